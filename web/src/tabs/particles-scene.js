// The scene of particles: points that a fragment shader makes spheres, bonds and the box, with orbit controls.
import {
  BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, PerspectiveCamera, Points, Scene, ShaderMaterial, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { bondsInside, boxEdges } from './particles-data.js';
import { colorsOf } from './ramp.js';

const FIELD_OF_VIEW = 35;

// `size` is a diameter in the units of the positions; `scale` is pixels for one unit at distance one.
const VERTEX = `
attribute float size;
attribute vec3 tint;
uniform float scale;
varying vec3 shade;
void main() {
  shade = tint;
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  gl_PointSize = max(1.0, size * scale / -place.z);
}`;
const FRAGMENT = `
varying vec3 shade;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  float square = dot(at, at);
  if (square > 1.0) discard;
  vec3 normal = vec3(at.x, -at.y, sqrt(1.0 - square));
  float light = 0.4 + 0.6 * max(0.0, dot(normal, normalize(vec3(0.4, 0.7, 0.8))));
  gl_FragColor = vec4(shade * light, 1.0);
}`;

/** Half of the longest extent of box or particles. */
function extentOf({ head, positions }) {
  if (head.box) return Math.max(...head.box.slice(0, head.dimensions === 2 ? 2 : 3), 1e-6) / 2;
  let most = 1e-6;
  for (const value of positions) if (Math.abs(value) > most) most = Math.abs(value);
  return most;
}

/** Gives an object a new geometry; that of the last frame is disposed, or its buffers would stay on the GPU. */
function replaceGeometry(object, attributes, index) {
  object.geometry.dispose();
  object.geometry = new BufferGeometry();
  for (const [name, [array, size, normalized]] of Object.entries(attributes)) {
    object.geometry.setAttribute(name, new BufferAttribute(array, size, normalized));
  }
  if (index) object.geometry.setIndex(new BufferAttribute(index, 1));
}

/**
 * Creates a scene on a canvas. Throws if the browser has no WebGL. `onDraw` is called after each picture.
 */
export function createScene(canvas, { dark, onDraw }) {
  const renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: false });
  renderer.setPixelRatio(Math.min(2, devicePixelRatio));
  renderer.setClearColor(dark ? 0x14171a : 0xffffff);
  const scene = new Scene();
  const camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.1, 1000);
  const controls = new OrbitControls(camera, canvas);
  controls.listenToKeyEvents(canvas);
  const material = new ShaderMaterial({ uniforms: { scale: { value: 1 } }, vertexShader: VERTEX, fragmentShader: FRAGMENT });
  const points = new Points(new BufferGeometry(), material);
  const lines = (color) => new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color }));
  const bonds = lines(0x999999);
  const box = lines(dark ? 0x8899aa : 0x667788);
  for (const one of [points, bonds, box]) one.frustumCulled = false;
  scene.add(points, bonds, box);
  let extent = 0;
  let view = null;

  function draw() {
    renderer.render(scene, camera);
    onDraw?.();
  }
  controls.addEventListener('change', draw);

  function resize(width, height) {
    renderer.setSize(width, height, false);
    camera.aspect = width / height;
    camera.updateProjectionMatrix();
    material.uniforms.scale.value = (height * renderer.getPixelRatio()) / (2 * Math.tan((FIELD_OF_VIEW * Math.PI) / 360));
    draw();
  }
  /** Puts the camera where it sees the whole box: from the front in two dimensions, else from above at the side. */
  function home() {
    // The sphere around a cube, from its half edge: a distance of √3 / sin(half the field of view) shows all of it.
    const [x, y, z] = view === 2 ? [0, 0, 4] : [3.05, 2.1, 4.45];
    const away = extent / Math.min(1, camera.aspect);
    camera.position.set(x * away, y * away, z * away);
    camera.near = extent / 100;
    camera.far = extent * 100;
    camera.updateProjectionMatrix();
    controls.target.set(0, 0, 0);
    controls.update();
    draw();
  }
  function show(frame) {
    const { head, positions, diameters } = frame;
    replaceGeometry(points, { position: [positions, 3], size: [diameters, 1], tint: [colorsOf(frame), 3, true] });
    replaceGeometry(bonds, { position: [positions, 3] }, bondsInside(frame));
    replaceGeometry(box, { position: [head.box ? boxEdges(head.box, head.dimensions) : new Float32Array(0), 3] });
    if (extent === 0) {
      extent = extentOf(frame);
      view = head.dimensions;
      home();
    } else {
      draw();
    }
  }
  function dispose() {
    controls.dispose();
    for (const one of [points, bonds, box]) {
      one.geometry.dispose();
      one.material.dispose();
    }
    renderer.dispose();
  }
  return { resize, show, home, dispose };
}
