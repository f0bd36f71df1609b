// Search in pages opened from disk: browsers start no worker from file://, so its script runs in
// a hidden frame. Material for MkDocs recognises the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = this.scope.document.createElement("script");
          Object.assign(script, { src: source, onload: resolve, onerror: reject });
          this.scope.document.body.appendChild(script);
        });
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.importScripts = (...urls) =>
        urls.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.loaded = load(url);
    }

    postMessage(data) {
      this.loaded.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
