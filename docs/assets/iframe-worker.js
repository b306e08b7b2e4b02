// SPDX-License-Identifier: Apache-2.0
// A page that is opened from a folder may not start a worker, and the theme's search runs in one. So where the page is a
// file, a worker is a hidden frame: it loads the same script, and both sides post messages to each other.
(() => {
  if (location.protocol !== "file:") return;
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "Search";
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.tell(data);
      inside.importScripts = (...names) => Promise.all(names.map((name) => this.load(new URL(name, url).href)));
      this.load(new URL(url, location.href).href).then(() => {
        for (const data of this.waiting.splice(0)) this.hand(data);
        this.waiting = null;
      });
    }
    load(src) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        Object.assign(script, { src, onload: done, onerror: failed });
        this.frame.contentDocument.body.append(script);
      });
    }
    tell(data) {
      const event = new MessageEvent("message", { data });
      this.onmessage?.(event);
      this.dispatchEvent(event);
    }
    hand(data) {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.hand(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
})();
