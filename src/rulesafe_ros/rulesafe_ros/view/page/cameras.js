// Images of the cameras. An image that arrives during decoding replaces the waiting one.

const waiting = {};

export function showCameras(cameras) {
  const figures = Object.entries(cameras).map(([key, name]) => {
    const [figure, canvas, caption] = ["figure", "canvas", "figcaption"].map((tag) =>
      document.createElement(tag),
    );
    figure.className = "panel camera";
    canvas.id = key;
    caption.textContent = `${name} camera`;
    figure.append(canvas, caption);
    return figure;
  });
  document.getElementById("cameras").replaceChildren(...figures);
}

export async function showImage(name, data) {
  const busy = name in waiting;
  waiting[name] = data;
  if (busy) return;
  const canvas = document.getElementById(name);
  const context = canvas.getContext("2d");
  while (waiting[name]) {
    const next = waiting[name];
    waiting[name] = null;
    try {
      const image = await createImageBitmap(new Blob([next]));
      if (canvas.width !== image.width || canvas.height !== image.height) {
        canvas.width = image.width;
        canvas.height = image.height;
      }
      context.drawImage(image, 0, 0);
      image.close();
      canvas.dataset.images = Number(canvas.dataset.images ?? 0) + 1;
    } catch (error) {
      console.warn(`cannot decode an image of the camera ${name}`, error);
    }
  }
  delete waiting[name];
}
