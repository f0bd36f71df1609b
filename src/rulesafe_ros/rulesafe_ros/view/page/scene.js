// 3D view of robot and safe, built from their URDF and rendered only after a change.

import * as three from "./vendor.js";
import { colour } from "./theme.js";

const FLOOR = -1.03; // m, in the pelvis frame
const EYE = [-0.95, -1.75, 0.75]; // m: behind the right shoulder, facing the safe's front
const TARGET = [0.32, -0.2, 0.12];
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software/i;

export function makeScene(container) {
  try {
    return new Scene(container);
  } catch (error) {
    document.getElementById("scene-note").textContent =
      "WebGL is not available in this browser; the rest of the page works";
    console.warn(error);
    return new Proxy({}, { get: () => () => {} });
  }
}

class Scene {
  #container;
  #renderer;
  #scene = new three.Scene();
  #camera = new three.PerspectiveCamera(38, 1, 0.02, 30);
  #controls;
  #loader = new three.URDFLoader();
  #robot = null;
  #safe = null;
  #cloud;
  #grid = null;
  #framePending = false;
  #lastFrame = 0;
  #minInterval;
  #positions = {};
  #status = null;

  constructor(container) {
    this.#container = container;
    this.#renderer = new three.WebGLRenderer({ antialias: true, alpha: true });
    const slow = this.#isSoftware();
    this.#minInterval = slow ? 150 : 30; // ms between frames
    this.#renderer.setPixelRatio(slow ? 1 : Math.min(devicePixelRatio, 2));
    this.#renderer.toneMapping = three.NeutralToneMapping;
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = three.PCFShadowMap;
    container.prepend(this.#renderer.domElement);
    this.#camera.up.set(0, 0, 1);
    this.#controls = new three.OrbitControls(this.#camera, this.#renderer.domElement);
    this.#controls.addEventListener("change", () => this.#draw());
    this.#lights();
    this.#cloud = this.#makeCloud();
    this.#loader.parseCollision = false;
    this.theme();
    this.#home();
    new ResizeObserver(() => this.#resize()).observe(container);
    document.getElementById("home").addEventListener("click", () => this.#home());
    document.getElementById("cloud").addEventListener("click", (event) => {
      this.#cloud.visible = !this.#cloud.visible;
      event.target.setAttribute("aria-pressed", this.#cloud.visible);
      this.#draw();
    });
  }

  #isSoftware() {
    const context = this.#renderer.getContext();
    const info = context.getExtension("WEBGL_debug_renderer_info");
    return SOFTWARE.test(info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : "");
  }

  #lights() {
    this.#scene.add(new three.HemisphereLight(0xffffff, 0xb4bcc6, 3.0));
    const sun = new three.DirectionalLight(0xffffff, 2.0);
    sun.position.set(-1.2, -1.4, 2.4);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    Object.assign(sun.shadow.camera, { left: -1.6, right: 1.6, top: 1.6, bottom: -1.6, far: 8 });
    sun.shadow.normalBias = 0.01;
    this.#scene.add(sun);
    const floor = new three.Mesh(
      new three.PlaneGeometry(8, 8),
      new three.ShadowMaterial({ opacity: 0.18 }),
    );
    floor.position.z = FLOOR;
    floor.receiveShadow = true;
    this.#scene.add(floor);
  }

  #makeCloud() {
    const material = new three.PointsMaterial({ size: 0.012, vertexColors: true });
    const cloud = new three.Points(new three.BufferGeometry(), material);
    cloud.visible = false;
    cloud.frustumCulled = false;
    this.#scene.add(cloud);
    return cloud;
  }

  theme() {
    if (this.#grid) this.#scene.remove(this.#grid);
    this.#grid = new three.GridHelper(6, 24, colour("grid"), colour("grid"));
    this.#grid.rotation.x = Math.PI / 2;
    this.#grid.position.z = FLOOR + 0.001;
    this.#grid.material.transparent = true;
    this.#grid.material.opacity = 0.6;
    this.#scene.add(this.#grid);
    this.#draw();
  }

  #home() {
    this.#camera.position.set(...EYE);
    this.#controls.target.set(...TARGET);
    this.#controls.update();
    this.#draw();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.#container;
    if (!width || !height) return;
    this.#renderer.setSize(width, height);
    this.#camera.aspect = width / height;
    // In a narrow window, keep the horizontal field of view instead of the vertical one.
    this.#camera.fov = width > height ? 38 : 38 * Math.min(1.6, height / width);
    this.#camera.updateProjectionMatrix();
    this.#draw();
  }

  #build(urdf, old) {
    if (old) {
      this.#scene.remove(old);
      old.traverse((node) => node.geometry?.dispose());
    }
    const body = this.#loader.parse(urdf);
    const visited = new Set();
    body.traverse((node) => {
      if (!node.isMesh) return;
      node.castShadow = true;
      node.receiveShadow = true;
      const { material } = node;
      if (visited.has(material)) return;
      visited.add(material);
      material.color.convertSRGBToLinear(); // colours in URDF are sRGB
      material.shininess = 20;
    });
    this.#scene.add(body);
    return body;
  }

  robot(urdf) {
    this.#robot = this.#build(urdf, this.#robot);
    document.getElementById("scene-note").hidden = true;
    this.joints(this.#positions);
  }

  safe(urdf) {
    this.#safe = this.#build(urdf, this.#safe);
    this.#safe.visible = false; // until its pose is known
    if (this.#status) this.status(this.#status);
  }

  joints(positions) {
    this.#positions = positions;
    for (const [name, position] of Object.entries(positions)) {
      this.#robot?.setJointValue(name, position);
    }
    this.#draw();
  }

  status(status) {
    this.#status = status;
    if (!this.#safe) return;
    this.#safe.visible = true;
    this.#safe.position.set(...status.safe_position);
    this.#safe.quaternion.set(...status.safe_quat_xyzw);
    for (const part of status.parts) this.#safe.setJointValue(`${part.name}_joint`, part.position);
    this.#draw();
  }

  // x, y, z, r, g, b of each point.
  points(values) {
    const count = values.length / 6;
    const [coordinates, colours] = [new Float32Array(3 * count), new Float32Array(3 * count)];
    const linear = new three.Color();
    for (let i = 0; i < count; i++) {
      coordinates.set(values.subarray(6 * i, 6 * i + 3), 3 * i);
      linear.setRGB(...values.subarray(6 * i + 3, 6 * i + 6), three.SRGBColorSpace);
      colours.set([linear.r, linear.g, linear.b], 3 * i);
    }
    this.#cloud.geometry.setAttribute("position", new three.BufferAttribute(coordinates, 3));
    this.#cloud.geometry.setAttribute("color", new three.BufferAttribute(colours, 3));
    if (this.#cloud.visible) this.#draw();
  }

  #draw() {
    if (this.#framePending) return;
    this.#framePending = true;
    const wait = Math.max(0, this.#lastFrame + this.#minInterval - performance.now());
    setTimeout(() => requestAnimationFrame(() => {
      this.#framePending = false;
      this.#lastFrame = performance.now();
      this.#renderer.render(this.#scene, this.#camera);
      const canvas = this.#renderer.domElement;
      canvas.dataset.drawings = Number(canvas.dataset.drawings ?? 0) + 1;
    }), wait);
  }
}
