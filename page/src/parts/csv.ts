/** Lines of comma-, semicolon- or tab-separated values to rows; quotes may hold separators and line breaks. Pure. */
export function csvRows(text: string, separator = separatorOf(text)): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else quoted = false;
    } else if (letter === '"' && !cell) quoted = true;
    else if (letter === separator) {
      row.push(cell);
      cell = "";
    } else if (letter === "\n") {
      rows.push([...row, cell.replace(/\r$/, "")]);
      row = [];
      cell = "";
    } else cell += letter;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows.filter((one) => one.length > 1 || one[0]);
}

function separatorOf(text: string): string {
  const first = text.split("\n", 1)[0] ?? "";
  const count = (sign: string): number => first.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}
