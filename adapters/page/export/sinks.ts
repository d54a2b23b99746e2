import { downloadBlob } from '../data/download.js'

/** The destination of an export, on disk, not in memory. */
export interface Sink {
  write(bytes: Uint8Array<ArrayBuffer> | string): Promise<void>
  /** Completes the file under this name. */
  finish(name: string): Promise<void>
  /** Deletes the written part. */
  discard(): Promise<void>
}

/** The File System Access API, which few browsers have. Fewer support `move`. */
interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<MovableHandle>
}

interface MovableHandle extends FileSystemFileHandle {
  move?(name: string): Promise<void>
}

const FOLDER = 'daybook-exports'

// Age after which leftover files are deleted. Another page may still write to newer files.
const LEFTOVER_AGE_MS = 86_400_000

/** A file that the user picks. Rejects with `AbortError` if the user cancels. */
async function pickedSink(name: string): Promise<Sink> {
  const handle = await (globalThis as unknown as SavePicker).showSaveFilePicker({
    suggestedName: name,
  })
  const stream = await handle.createWritable()
  return {
    write: (bytes) => stream.write(bytes),
    async finish(finished) {
      await stream.close()
      // If renaming fails, the last line still shows that the file is incomplete.
      if (finished !== name) await handle.move?.(finished).catch(() => undefined)
    },
    discard: () => stream.abort(),
  }
}

async function removeLeftovers(directory: FileSystemDirectoryHandle): Promise<void> {
  for await (const handle of directory.values()) {
    if (handle.kind !== 'file') continue
    const { lastModified } = await handle.getFile()
    if (Date.now() - lastModified > LEFTOVER_AGE_MS) await directory.removeEntry(handle.name)
  }
}

/** A file in the origin private file system, downloaded once it is complete. */
async function privateSink(name: string): Promise<Sink> {
  const root = await navigator.storage.getDirectory()
  const directory = await root.getDirectoryHandle(FOLDER, { create: true })
  await removeLeftovers(directory)
  const handle = await directory.getFileHandle(`${crypto.randomUUID()}-${name}`, { create: true })
  const stream = await handle.createWritable()
  const remove = (): Promise<void> => directory.removeEntry(handle.name).catch(() => undefined)
  return {
    write: (bytes) => stream.write(bytes),
    async finish(finished) {
      await stream.close()
      downloadBlob(await handle.getFile(), finished, () => void remove())
    },
    async discard() {
      await stream.abort()
      await remove()
    },
  }
}

const isCancellation = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

/**
 * Opens the best available sink: a file that the user picks, else a private file. `undefined` if the
 * browser supports neither. Rejects with `AbortError` if the user cancels.
 */
export async function openSink(name: string): Promise<Sink | undefined> {
  // An automated browser has no user to pick a file.
  const canAsk = 'showSaveFilePicker' in globalThis && !navigator.webdriver
  const ways = [...(canAsk ? [pickedSink] : []), privateSink]
  for (const open of ways) {
    try {
      return await open(name)
    } catch (error) {
      if (isCancellation(error)) throw error
    }
  }
  return undefined
}
