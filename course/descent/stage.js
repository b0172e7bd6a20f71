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
function queue(model) {
  let busy = false;
  let waiting = null;
  let timer = null;
  const go = (message) => {
    busy = true;
    model.send(message);
  };
  return {
    send(message, merge = (_, newest) => newest) {
      clearTimeout(timer);
      if (busy) waiting = waiting ? merge(waiting, message) : message;
      else go(message);
    },
    answered() {
      busy = false;
      clearTimeout(timer);
      const next = waiting;
      waiting = null;
      if (next) go(next);
      else if (model.get("look").draft) timer = setTimeout(() => go({ kind: "rest" }), REST);
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
      if (!grabbed && wishes.idle()) paint(told.at);
    },
    remove: () => dot.remove(),
  };
}

function render({ model, el }) {
  const box = make("div", "descent-stage");
  el.append(box);
  const wishes = queue(model);
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
  wishes.send({ kind: "ready" });
  return () => {
    model.off("change:serial", update);
    wishes.stop();
  };
}

export default { render };
