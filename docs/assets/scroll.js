// SPDX-License-Identifier: Apache-2.0
// Wide tables and code scroll: by keyboard too. The theme puts tables into their boxes once the page is there.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) box.tabIndex = 0;
});
