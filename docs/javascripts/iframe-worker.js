// Browsers start no workers on pages that are opened from the file system, and the theme's search needs one. There, a
// hidden frame runs the worker's script; the theme recognises it by the name IFrameWorker.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => frame.addEventListener("load", () => resolve(frame.contentWindow), { once: true }));
      frame.srcdoc = `<script src="${url}"></script>`;
      document.body.append(frame);
      this.ready.then((inside) => {
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
