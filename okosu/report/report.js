(function () {
  "use strict";
  // Without script the page lacks the copy buttons and nothing else.
  document.querySelectorAll("pre.type").forEach(function (box) {
    var text = box.textContent;
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", function () {
      var done = function () {
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 1500);
      };
      var select = function () { getSelection().selectAllChildren(box); };
      // A page opened from a file may be refused the clipboard: the text is then selected, ready for Ctrl-C.
      if (navigator.clipboard) { navigator.clipboard.writeText(text).then(done, select); } else { select(); }
    });
    box.parentNode.insertBefore(button, box);
  });
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
})();
