// A button on every table copies it as text that spreadsheets understand.
for (const table of document.querySelectorAll(".table table")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "copy";
  button.title = "Copy this table";
  button.addEventListener("click", async () => {
    const text = [...table.rows]
      .map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t"))
      .join("\n");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  table.caption.append(button);
}
