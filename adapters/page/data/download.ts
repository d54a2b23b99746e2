/** Lets the browser save the file of an address of this page under a name. */
export function download(url: string, name: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

// Browsers read a handed-out file while they save it.
const KEEP_MS = 120_000

/** Saves what the page has; `done` is called when it may go. */
export function downloadBlob(blob: Blob, name: string, done?: () => void): void {
  const url = URL.createObjectURL(blob)
  download(url, name)
  setTimeout(() => {
    URL.revokeObjectURL(url)
    done?.()
  }, KEEP_MS)
}
