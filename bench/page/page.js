(function () {
  var choice = document.getElementById("choice"), talk = document.getElementById("talk"), size = document.getElementById("window");
  if (!choice) return;
  function show() {
    document.querySelectorAll("figure[data-talk]").forEach(function (f) {
      f.hidden = !((talk.value === "all" || f.dataset.talk === talk.value) && (size.value === "all" || f.dataset.window === size.value));
    });
  }
  choice.hidden = false;
  talk.onchange = size.onchange = show;
  show();
})();
