// Over a picture that matplotlib drew: handles that follow the pointer at once, points that play.
// The kernel draws one picture at a time; meanwhile only the newest wish is kept.

const REST = 150; // milliseconds without a move, after which a sharp picture is asked for

function make(name, className, attributes = {}) {
  const element = document.createElement(name);
  element.className = className;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

const clip = (value, [low, high]) => Math.min(Math.max(value, low), high);

// Sends one message at a time. `send(message, merge)`: merge(waiting, message) is what waits in its place.
// Every message says how much room there is.
function queue(model, el) {
  let busy = false;
  let waiting = null;
  let timer = null;
  const go = (message) => {
    busy = true;
    model.send({ ...message, room: el.clientWidth });
  };
  return {
    send(message, merge = (_, newest) => newest) {
      clearTimeout(timer);
      if (busy) waiting = waiting ? merge(waiting, message) : message;
      else go(message);
    },
    answered() {
      busy = false;
      const next = waiting;
      waiting = null;
      if (next) {
        clearTimeout(timer); // this message says how much room there is, too
        go(next);
      } else if (model.get("look").draft) this.soon({ kind: "rest" });
    },
    soon(message) {
      clearTimeout(timer);
      timer = setTimeout(() => this.send(message), REST);
    },
    idle: () => !busy && !waiting,
    stop: () => clearTimeout(timer),
  };
}

// The image; returns what to do when a new one has come.
function picture(model, box) {
  const img = make("img", "", { alt: "", draggable: "false" });
  box.append(img);
  let shown = null;
  let address = null;
  return () => {
    const { width, words } = model.get("look");
    const png = model.get("png");
    if (!png?.byteLength) return;
    img.alt = words;
    img.width = width;
    if (png === shown) return;
    shown = png;
    const old = address;
    address = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    img.src = address;
    img.decode().catch(() => {}).then(() => old && URL.revokeObjectURL(old));
  };
}

// One handle, at shares of its axes' box; `told` is what the kernel says of it.
function handle(number, box, wishes) {
  const dot = make("div", "descent-handle", { role: "slider", tabindex: "0" });
  box.append(dot);
  let told = null;
  let grabbed = false;
  const paint = ([u, v]) => {
    const [left, top, width, height] = told.box;
    dot.style.left = `${100 * (left + u * width)}%`;
    dot.style.top = `${100 * (top + (1 - v) * height)}%`;
    dot.dataset.paints = 1 + Number(dot.dataset.paints ?? 0);
  };
  const follow = (event) => {
    const area = box.getBoundingClientRect();
    const [left, top, width, height] = told.box;
    const u = ((event.clientX - area.left) / area.width - left) / width;
    const v = 1 - ((event.clientY - area.top) / area.height - top) / height;
    const at = [clip(u, told.ends[0]), clip(v, told.ends[1])];
    paint(at);
    wishes.send({ kind: "move", handle: number, at });
  };
  dot.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    grabbed = true;
    dot.setPointerCapture(event.pointerId);
    dot.focus({ preventScroll: true });
    event.preventDefault();
  });
  dot.addEventListener("pointermove", (event) => grabbed && follow(event));
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
    dot.addEventListener(end, () => {
      grabbed = false;
    });
  const arrows = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  dot.addEventListener("keydown", (event) => {
    const arrow = arrows[event.key];
    if (!arrow) return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab would choose another cell
    const steps = arrow.map((one) => one * (event.shiftKey ? 10 : 1));
    wishes.send({ kind: "nudge", handle: number, steps }, (waiting, newest) =>
      waiting.kind === "nudge" && waiting.handle === number
        ? { ...newest, steps: newest.steps.map((one, i) => one + waiting.steps[i]) }
        : newest,
    );
  });
  return {
    update(newest) {
      told = newest;
      dot.setAttribute("aria-label", `handle ${told.label}`);
      dot.setAttribute("aria-valuenow", Math.round(100 * told.at[0]));
      dot.setAttribute("aria-valuetext", told.words);
      // While cells run nothing is idle; a new handle has its place all the same.
      if (!grabbed && (wishes.idle() || !dot.dataset.paints)) paint(told.at);
    },
    remove: () => dot.remove(),
  };
}

// A movie over the picture: points in float32, a canvas, and what plays it. Returns what stops it.
function film(model, box, el) {
  const { steps, points, seconds, colors, box: [left, top, width, height] } = model.get("film");
  const bytes = model.get("positions");
  const at = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const canvas = make("canvas", "");
  box.append(canvas);
  const bar = make("div", "descent-film");
  const button = make("button", "", { type: "button" });
  const slider = make("input", "", { type: "range", min: 0, max: steps - 1, step: 1, "aria-label": "step" });
  const told = make("output", "", { "aria-live": "off" });
  bar.append(button, slider, told);
  el.append(bar);
  let step = 0; // between two steps it is no whole number
  let last = null; // when the frame before was painted; null while it rests
  let request = 0;
  const point = (now, later, part, index, axis) => {
    const here = at[2 * (now * points + index) + axis];
    return here + part * (at[2 * (later * points + index) + axis] - here);
  };
  const paint = () => {
    const ratio = devicePixelRatio;
    const size = [Math.round(box.clientWidth * ratio), Math.round(box.clientHeight * ratio)];
    if (canvas.width !== size[0]) canvas.width = size[0];
    if (canvas.height !== size[1]) canvas.height = size[1];
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, ...size);
    pen.save();
    pen.beginPath();
    pen.rect(left * size[0], top * size[1], width * size[0], height * size[1]);
    pen.clip();
    const now = Math.floor(step);
    const later = Math.min(now + 1, steps - 1);
    const radius = Math.max(2, (points > 200 ? 2.5 : 4) * Math.min(1, box.clientWidth / 400)) * ratio;
    pen.strokeStyle = "white";
    pen.lineWidth = ratio / 2;
    for (let index = 0; index < points; index++) {
      const u = point(now, later, step - now, index, 0);
      const v = point(now, later, step - now, index, 1);
      if (!Number.isFinite(u + v)) continue;
      pen.beginPath();
      pen.arc((left + u * width) * size[0], (top + (1 - v) * height) * size[1], radius, 0, 7);
      pen.fillStyle = colors[index % colors.length];
      pen.fill();
      pen.stroke();
    }
    pen.restore();
    canvas.dataset.paints = 1 + Number(canvas.dataset.paints ?? 0);
    const whole = Math.round(step);
    slider.value = whole;
    told.textContent = `step ${whole} of ${steps - 1}`;
  };
  const rest = () => {
    cancelAnimationFrame(request);
    last = null;
    button.textContent = "▶ Play";
    told.setAttribute("aria-live", "polite"); // the step is read out at rest only
  };
  const frame = (time) => {
    // Who asked for reduced motion gets still frames, two a second at most.
    const pause = still.matches ? Math.max(500, (1000 * seconds) / (steps - 1)) : 0;
    if (time - last >= pause) {
      const far = ((time - last) / 1000 / seconds) * (steps - 1);
      step = Math.min(step + far, steps - 1);
      if (still.matches) step = Math.round(step);
      last = time;
      paint();
    }
    if (step >= steps - 1) rest();
    else request = requestAnimationFrame(frame);
  };
  const play = () => {
    if (step >= steps - 1) step = 0;
    button.textContent = "❚❚ Pause";
    told.setAttribute("aria-live", "off");
    last = performance.now();
    request = requestAnimationFrame(frame);
  };
  button.addEventListener("click", () => (last === null ? play() : rest()));
  slider.addEventListener("input", () => {
    rest();
    step = Number(slider.value);
    paint();
  });
  // Arrows are the slider's, not JupyterLab's.
  bar.addEventListener("keydown", (event) => event.stopPropagation());
  const resized = new ResizeObserver(paint);
  resized.observe(box);
  rest();
  return () => {
    rest();
    resized.disconnect();
  };
}

function render({ model, el }) {
  const box = make("div", "descent-stage");
  el.append(box);
  const wishes = queue(model, el);
  const drawn = picture(model, box);
  const handles = [];
  const update = () => {
    wishes.answered();
    drawn();
    const told = model.get("look").handles ?? [];
    while (handles.length > told.length) handles.pop().remove();
    while (handles.length < told.length) handles.push(handle(handles.length, box, wishes));
    told.forEach((one, number) => handles[number].update(one));
  };
  model.on("change:serial", update);
  update();
  const stop = model.get("film").steps ? film(model, box, el) : () => {};
  wishes.send({ kind: "ready" });
  let room = el.clientWidth;
  const resized = new ResizeObserver(() => {
    if (!el.clientWidth || el.clientWidth === room) return;
    room = el.clientWidth;
    wishes.soon({ kind: "rest" });
  });
  resized.observe(el);
  return () => {
    resized.disconnect();
    stop();
    model.off("change:serial", update);
    wishes.stop();
  };
}

// The front end has anywidget: the kernel may put the stage in sight.
function initialize({ model }) {
  model.send({ kind: "here", room: 0 });
}

export default { initialize, render };
