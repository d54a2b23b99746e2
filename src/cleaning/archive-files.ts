import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import path from 'node:path'

/* Functions of the file system for all archives in a directory. */

/** Creates a file with exactly this mode, whatever the umask is. Fails if the file exists. */
export async function createFile(file: string, mode: number): Promise<FileHandle> {
  const created = await open(file, 'wx', mode)
  // The umask may have removed bits. Some file systems have no permissions.
  await created.chmod(mode).catch(() => {})
  return created
}

/** Throws unless the path leads to the open file. Otherwise the removed events would not be found at the path. */
export async function checkPlace(handle: FileHandle, file: string): Promise<void> {
  const written = await handle.stat({ bigint: true })
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  if (!found || found.ino !== written.ino || found.dev !== written.dev)
    throw new Error(`the archive ${file} was deleted, moved or replaced while it was written`)
}

/** Writes all of the bytes, at the position or at the end of a file that was opened for appending. */
export async function writeAll(
  handle: FileHandle,
  bytes: Uint8Array,
  position?: number,
): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const at = position === undefined ? null : position + done
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at)
    done += bytesWritten
  }
}

/** Makes the names of new files in the directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open directories, and needs no sync of them.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates the directory and its missing parents, and makes their names durable. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  let created = path.resolve(directory)
  const top = path.dirname(path.resolve(first))
  while (created !== top) {
    created = path.dirname(created)
    await syncDirectory(created)
  }
}

export function fileSafe(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '_')
}
