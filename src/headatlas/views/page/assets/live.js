// A served page follows its atlas: when the server says that it has changed, the page loads itself again, as it was.
// What is looked at lives in the address; where it is scrolled to travels in the session of the tab.

const SCROLLED = "headatlas-scrolled";

/** Listen for changes of the atlas; `shown` is the state that this page shows. */
function followAtlas(shown) {
  const scrolled = sessionStorage.getItem(SCROLLED);
  sessionStorage.removeItem(SCROLLED);
  if (scrolled !== null) scrollWhenDrawn(+scrolled, 100);
  const isFree = watchReader();
  const events = new EventSource("/events"); // connects again by itself
  events.addEventListener("atlas", ({ data }) => {
    if (data === shown) return;
    events.close();
    const reload = () => {
      if (!isFree()) return setTimeout(reload, 200);
      sessionStorage.setItem(SCROLLED, scrollY);
      return location.reload();
    };
    reload();
  });
}

/** Scroll down as soon as enough of the page is drawn: sections below the maps come later. */
function scrollWhenDrawn(top, tries) {
  if (tries && document.documentElement.scrollHeight < top + innerHeight) setTimeout(() => scrollWhenDrawn(top, tries - 1), 50);
  else scrollTo({ top, behavior: "instant" });
}

/** Whether the reader neither holds a button down nor reads a dialogue, which a new page would end. */
function watchReader() {
  let pressed = false;
  addEventListener("pointerdown", () => (pressed = true), true);
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (pressed = false), true);
  return () => !pressed && !document.querySelector("dialog[open]");
}
