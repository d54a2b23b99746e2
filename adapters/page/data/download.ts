/** Makes the browser save the file at a same-origin address under a name. */
export function download(url: string, name: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

// The browser reads the blob while it saves the file, so the blob must stay available for a while.
const KEEP_MS = 120_000

/** Makes the browser save a blob. `done` is called once the blob is no longer needed. */
export function downloadBlob(blob: Blob, name: string, done?: () => void): void {
  const url = URL.createObjectURL(blob)
  download(url, name)
  setTimeout(() => {
    URL.revokeObjectURL(url)
    done?.()
  }, KEEP_MS)
}
