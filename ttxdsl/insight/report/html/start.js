// The data stands in the page deflated; the other scripts run when it is read.

const deflated = Uint8Array.from(atob(document.getElementById("data").textContent), (one) => one.charCodeAt(0));
new Response(new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"))).text().then((text) => {
  document.getElementById("data").textContent = text;
  const script = document.createElement("script");
  script.textContent = document.getElementById("js").textContent;
  document.body.append(script);
});
