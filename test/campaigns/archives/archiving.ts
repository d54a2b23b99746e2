import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import pg from 'pg'
import { manualClock } from 'daybook/testing'
import type { ArchiveFormat } from './archive-rule.js'

/*
 * A process that archives: `<place> <directory> <format> <time> <step>`. It counts the steps of its work: before and after each
 * call of the file system, in the middle of each write, and before and after each removal from the store and each statement of Postgres. It kills itself
 * at the given step, or prints `done` and the number of steps.
 */
const [place = '', directory = '', format = '', time = '', last = ''] = process.argv.slice(2)

let steps = 0

function step(): void {
  steps++
  if (steps !== Number(last)) return
  process.kill(process.pid, 'SIGKILL')
  // The signal may be delivered a moment later; until then nothing else may run.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>

/** Makes the methods of the object take a step before and after each call. */
function countSteps(object: object, names: readonly string[]): void {
  const methods = object as Record<string, Method>
  for (const name of names) {
    const method = methods[name]!
    methods[name] = async function counted(...args) {
      step()
      const result = await method.apply(this, args)
      step()
      return result
    }
  }
}

/** Makes each write of a file two writes, with a step between them. */
function halveWrites(handle: object): void {
  const methods = handle as { write: Method }
  const { write } = methods
  methods.write = async function halved(bytes, offset, length, position) {
    const half = Math.ceil((length as number) / 2)
    const result = await write.call(this, bytes, offset, half, position)
    step()
    return result
  }
}

const handle = await fs.open(process.execPath)
const handleMethods = Object.getPrototypeOf(handle) as object
await handle.close()
halveWrites(handleMethods)
countSteps(handleMethods, ['sync', 'close', 'stat', 'chmod'])
countSteps(fs, ['open', 'mkdir', 'rename', 'rm', 'stat', 'readdir'])
syncBuiltinESMExports()

// Imported after the methods have been replaced, because these modules import them.
const { isPostgres, openPlace } = await import('./archive-place.js')
const { openWorld } = await import('../../stores/shared/cleaning-world.js')
const { archivingRule } = await import('./archive-rule.js')

if (isPostgres(place)) countSteps(pg.Client.prototype, ['query'])
const store = openPlace(place, manualClock(time))
countSteps(store, ['remove'])
const rule = archivingRule(directory, format as ArchiveFormat, isPostgres(place))
const world = openWorld(store, { rules: [rule] })
const [result] = await world.cleaning.run()
if (result?.error !== undefined) throw new Error(result.error)
process.stdout.write(`done ${steps}\n`)
await world.close()
