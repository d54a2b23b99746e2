import { downloadBlob } from '../data/download.js'

/** Where an export is written. What it takes is on a disk, not in memory. */
export interface Sink {
  write(bytes: Uint8Array<ArrayBuffer> | string): Promise<void>
  /** Hands the file over under this name. */
  finish(name: string): Promise<void>
  /** Takes back what was written. */
  discard(): Promise<void>
}

/** Not in every browser, and renaming in fewer still. */
interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<MovableHandle>
}

interface MovableHandle extends FileSystemFileHandle {
  move?(name: string): Promise<void>
}

const PARTS = 'daybook-exports'

// What pages left that were closed too early; another one may be writing still.
const LEFT_MS = 86_400_000

/** The file that the reader chooses; rejects with `AbortError` where he chooses none. */
async function pickedSink(name: string): Promise<Sink> {
  const handle = await (globalThis as unknown as SavePicker).showSaveFilePicker({
    suggestedName: name,
  })
  const stream = await handle.createWritable()
  return {
    write: (bytes) => stream.write(bytes),
    async finish(finished) {
      await stream.close()
      // Its last line tells as well that it is cut.
      if (finished !== name) await handle.move?.(finished).catch(() => undefined)
    },
    discard: () => stream.abort(),
  }
}

async function removeLeft(directory: FileSystemDirectoryHandle): Promise<void> {
  for await (const handle of directory.values()) {
    if (handle.kind !== 'file') continue
    const { lastModified } = await handle.getFile()
    if (Date.now() - lastModified > LEFT_MS) await directory.removeEntry(handle.name)
  }
}

/** A file of the browser's own, handed out as a download once it is there. */
async function privateSink(name: string): Promise<Sink> {
  const root = await navigator.storage.getDirectory()
  const directory = await root.getDirectoryHandle(PARTS, { create: true })
  await removeLeft(directory)
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

const isChoice = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

/**
 * The best place there is: the reader's choice, else a file of the browser's own. `undefined` where
 * the browser has neither. Rejects with `AbortError` where the reader changed his mind.
 */
export async function openSink(name: string): Promise<Sink | undefined> {
  // A browser that is driven by a program has nobody who could choose.
  const canAsk = 'showSaveFilePicker' in globalThis && !navigator.webdriver
  const ways = [...(canAsk ? [pickedSink] : []), privateSink]
  for (const open of ways) {
    try {
      return await open(name)
    } catch (error) {
      if (isChoice(error)) throw error
    }
  }
  return undefined
}
