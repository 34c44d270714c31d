// The same script is the page's and the worker's.

import { Live } from "./page.js";
import { serve } from "./runner.js";

if (typeof document === "undefined") {
  serve(self);
} else {
  const content = JSON.parse(document.getElementById("content").textContent);
  window.live = new Live(content, document.currentScript.textContent);
  if (content.tour) window.live.tour.show(0);
}
