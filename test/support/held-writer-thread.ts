import fs from 'node:fs'
import { workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { holdFiles, type Hold } from './held-writer.js'

/*
 * The writer thread of the SQLite store on a disk that does not finish commits: `holdCommits` says when. Blocks the
 * thread as a system call would.
 */

const { filename } = workerData as { readonly filename: string }
const { order, held } = holdFiles(filename)
const nothing = new Int32Array(new SharedArrayBuffer(4))
const sleep = (): void => void Atomics.wait(nothing, 0, 0, 2)

interface Statement {
  readonly source: string
  run(...params: unknown[]): unknown
}

const readOrder = (): Hold | undefined =>
  fs.existsSync(order) ? (fs.readFileSync(order, 'utf8') as Hold) : undefined

const waitFor = (): void => {
  fs.writeFileSync(held, '')
  while (fs.existsSync(order)) sleep()
}

const probe = new Database(':memory:')
const prototype = Object.getPrototypeOf(probe.prepare('SELECT 1')) as Statement
probe.close()
const { run } = prototype
prototype.run = function (this: Statement, ...params) {
  const hold = this.source === 'COMMIT' ? readOrder() : undefined
  if (hold === 'before') waitFor()
  const result = run.apply(this, params)
  if (hold === 'after') waitFor()
  if (hold === 'die') {
    fs.rmSync(order)
    process.exit(1)
  }
  return result
}

await import('../../adapters/sqlite/write/writer-thread.js')
