"use strict";
// Nothing of the desk needs this: it saves reloading by hand while work is going on. What it asks for is the page itself.
const job = document.getElementById("job");
async function follow() {
  let answer, text;
  try {
    answer = await fetch(location.href, { cache: "no-store" });
    text = await answer.text();
  } catch {
    document.getElementById("lost").hidden = false;
    return setTimeout(follow, 2000);
  }
  document.getElementById("lost").hidden = true;
  if (answer.redirected) return location.replace(answer.url);
  const found = new DOMParser().parseFromString(text, "text/html").getElementById("job");
  if (!found) return location.reload();
  if (found.innerHTML !== job.innerHTML) job.replaceChildren(...found.childNodes);
  if (found.hasAttribute("data-runs")) setTimeout(follow, 700);
  else document.getElementById("cancel")?.remove();
}
if (job?.hasAttribute("data-runs")) setTimeout(follow, 700);
