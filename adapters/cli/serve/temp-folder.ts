import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** A folder that only this user can open. */
export interface TempFolder {
  file(name: string): string
  remove(): void
}

/** Identifies the machine and the container, because process ids mean something only there. */
function machineId(): string {
  let namespace = ''
  try {
    namespace = fs.readlinkSync('/proc/self/ns/pid')
  } catch {
    // Only Linux has this file.
  }
  return createHash('sha256').update(`${os.hostname()} ${namespace}`).digest('hex').slice(0, 8)
}

/** The beginning of the names of all folders of processes on this machine. */
const commonPrefix = (): string => `daybook-serve-${machineId()}-`

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function isOwnFolder(folder: string): boolean {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid)
}

/** Removes the folders of killed processes, as far as possible. */
export function removeStaleFolders(): void {
  const prefix = commonPrefix()
  try {
    for (const name of fs.readdirSync(os.tmpdir())) {
      if (!name.startsWith(prefix)) continue
      const pid = Number.parseInt(name.slice(prefix.length), 10)
      const folder = path.join(os.tmpdir(), name)
      if (pid > 0 && !isRunning(pid) && isOwnFolder(folder))
        fs.rmSync(folder, { recursive: true, force: true })
    }
  } catch {
    // After a failure, the next start tries again.
  }
}

/** Creates a folder with mode 0700. It is also removed if the process ends without `remove`, unless it is killed. */
export function createTempFolder(): TempFolder {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${commonPrefix()}${process.pid}-`))
  const remove = (): void => {
    process.off('exit', remove)
    fs.rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', remove)
  return { file: (name) => path.join(folder, name), remove }
}
