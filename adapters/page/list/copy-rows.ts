/** Copies two or more selected rows as lines with tab-separated cells. */
export function copySelectedRows(event: ClipboardEvent): void {
  const selection = getSelection()
  const rows = (event.currentTarget as HTMLElement).querySelectorAll('.row[data-id]')
  const selected = [...rows].filter((row) => selection?.containsNode(row, true))
  if (selected.length < 2) return
  const cells = (row: Element): string =>
    [...row.children].map((cell) => (cell as HTMLElement).innerText.trim()).join('\t')
  event.clipboardData?.setData('text/plain', selected.map(cells).join('\n'))
  event.preventDefault()
}
