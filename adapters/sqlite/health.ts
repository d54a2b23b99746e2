import fs from 'node:fs/promises'
import path from 'node:path'
import type { DiskHealth, StoreHealth } from '../../src/store/health.js'
import type { WaitOptions } from '../../src/store/store.js'
import { storeFailure, type Connection } from './connection/connection.js'
import { countUnsealed } from './index/due.js'
import { loadIndex } from '../../src/store-kit/maintenance/index-rows.js'
import { DIALECT, runProgram } from './index/dialect.js'
import { DEFAULT_TUNING } from './index/index-state.js'

/** Reads the file, and asks the system about its disk. */
export async function readHealth(
  connection: Connection,
  options: WaitOptions,
): Promise<StoreHealth> {
  const index = await connection.retry(() => {
    connection.checkFile()
    return {
      waiting: countUnsealed(connection),
      damaged: runProgram(connection, loadIndex(DIALECT)).damaged.length,
      batch: DEFAULT_TUNING.segmentSize,
    }
  }, options)
  return { index, disk: await diskOf(connection.database.name) }
}

/** The size of a file; 0 if there is none. Opens nothing: see connection/file.ts. */
const sizeOf = async (file: string): Promise<number> =>
  fs.stat(file).then(
    ({ size }) => size,
    () => 0,
  )

async function diskOf(file: string): Promise<DiskHealth> {
  const sizes = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`), sizeOf(`${file}-shm`)])
  const sizeBytes = sizes.reduce((a, b) => a + b)
  try {
    const { bavail, bsize } = await fs.statfs(path.dirname(file))
    return { sizeBytes, freeBytes: bavail * bsize }
  } catch (error) {
    throw storeFailure(error)
  }
}
