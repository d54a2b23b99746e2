import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import type http from 'node:http'
import path from 'node:path'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Child, runScript } from '../support/child.js'
import { serve, type TestServer } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import { runCli } from './run-cli.js'

/*
 * The exit codes of processes, and the state after signals and closed pipes. golden.test.ts and feed.test.ts have the
 * other exit codes.
 */

const COUNT = 1000
const STALLS_AFTER = 100_000

const temp = tempDir()
const log = temp.file('audit.db')
const user = { DAYBOOK_USER: 'ann', DAYBOOK_PASSWORD: 'ann' }
let server: TestServer

const daybook = (
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Child => runScript('adapters/cli/main.ts', args, { NO_COLOR: '1', ...env }, stdin)

/** Only some bytes of the response arrive, as over a stalled connection. */
function stall(response: http.ServerResponse): void {
  const write = response.write.bind(response) as (chunk: Buffer) => boolean
  let bytes = 0
  response.write = (chunk: Buffer) => {
    if (bytes >= STALLS_AFTER) return false
    bytes += chunk.length
    return write(chunk)
  }
}

beforeAll(async () => {
  server = await serve({
    store: sqliteStore({ filename: log }),
    record: false,
    outside: [
      (ctx, next) => {
        if (ctx.path.endsWith('/export')) stall(ctx.res)
        return next()
      },
    ],
  })
  // Compression leaves much of it.
  const record = (n: number): Promise<unknown> =>
    server.audit.recordCustom('note', { n, text: randomBytes(500).toString('hex') })
  await Promise.all(Array.from({ length: COUNT }, (_, n) => record(n)))
})
afterAll(async () => {
  await server.close()
  temp.remove()
})

describe('a command ends', () => {
  it('a separate process ends with the code too', async () => {
    const child = daybook(['get', log, '01a20405-0fa8-7676-ba2c-be23e865d0a6'])
    expect(await child.ended).toBe(1)
    expect(child.stderr()).toMatch(/^error: there is no event \S+\n$/)
    expect(child.stdout()).toBe('')
  })

  it('with 1 if the disk is full', () => {
    const full = fs.openSync('/dev/full', 'w')
    const main = path.join(inject('compiledFolder'), 'adapters/cli/main.js')
    const { status, stderr } = spawnSync(process.execPath, [main, 'list', log], {
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    fs.closeSync(full)
    expect(status).toBe(1)
    expect(stderr).toBe(
      'error: the output cannot be written: ENOSPC: no space left on device, write\n',
    )
  })

  it('with 0 and without output if the reader of its output is gone', async () => {
    const child = daybook(['export', log])
    await child.saw('"n":0')
    child.process.stdout!.destroy()
    expect(await child.ended).toBe(0)
    expect(child.stderr()).toBe('')
  })

  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s during tail with %d, and closes the log', async (signal, exit) => {
    const child = daybook(['tail', log, '--since', '1h', '--fields', 'n'])
    await child.saw(`${COUNT - 1}\n`)
    await child.kill(signal)
    expect(await child.ended).toBe(exit)
    expect(child.stderr()).toBe('')
  })
})

describe('Ctrl-C during an export', () => {
  const sizeOf = (file: string): number => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0

  it('leaves a file that --resume can continue', async () => {
    const file = temp.file('events.ndjson')
    const child = daybook(['export', server.url, '--out', file], user)
    await expect.poll(() => sizeOf(file)).toBeGreaterThan(0)
    await child.kill('SIGINT')
    expect([await child.ended, child.stderr()]).toEqual([130, ''])
    const interrupted = sizeOf(file)
    expect(await runCli(['export', log, '--out', file, '--resume'])).toMatchObject({ exit: 0 })
    const whole = await runCli(['export', log])
    expect(fs.readFileSync(file, 'utf8') === whole.stdout).toBe(true)
    expect(sizeOf(file)).toBeGreaterThan(interrupted)
  })

  it('leaves nothing of Parquet', async () => {
    const before = fs.readdirSync(temp.dir)
    const args = ['export', server.url, '--format', 'parquet', '--out', temp.file('e.parquet')]
    const child = daybook(args, user)
    await expect.poll(() => fs.readdirSync(temp.dir).length).toBe(before.length + 1)
    await child.kill('SIGINT')
    expect([await child.ended, child.stderr()]).toEqual([130, ''])
    expect(fs.readdirSync(temp.dir)).toEqual(before)
  })
})

describe('an import that ends early', () => {
  const eventsOf = (total: number): string[] =>
    Array.from({ length: total }, (_, n) => `${eventLine(n)}\n`)
  const linesOf = (total: number): string[] =>
    Array.from({ length: total }, (_, n) => `${JSON.stringify({ n })}\n`)

  const counted = async (target: string): Promise<number> =>
    Number((await runCli(['count', target])).stdout)

  /** Ends the import of a part of the lines once it has stored some. */
  async function endImport(
    args: readonly string[],
    lines: readonly string[],
    least: number,
    signal: NodeJS.Signals,
  ): Promise<Child> {
    const child = daybook(args, {}, 'pipe')
    // Stdin stays open, so the import cannot end.
    child.process.stdin!.write(lines.slice(0, 0.8 * lines.length).join(''))
    await expect.poll(() => counted(args[1]!)).toBeGreaterThanOrEqual(least)
    await child.kill(signal)
    return child
  }

  it.each([
    ['events', eventsOf(3000), 1000, []],
    ['lines', linesOf(600), 100, ['--record']],
  ])(
    'by Ctrl-C, of %s, prints its progress, and can be repeated',
    async (name, lines, least, options) => {
      const target = temp.file(`${name}.db`)
      const args = ['import', target, '-', ...options]
      const child = await endImport(args, lines, least, 'SIGINT')
      expect(await child.ended).toBe(130)
      expect(child.stderr()).toMatch(
        /^-: stopped (?:after|at line \d+,) \d+ events(?: recorded)?; the same command goes on from there\n$/,
      )
      const [, stored] = /(\d+) events/.exec(child.stderr()) ?? []
      expect(await counted(target)).toBe(Number(stored))
      expect(await runCli(args, { stdin: lines.join('') })).toMatchObject({ exit: 0 })
      expect(await counted(target)).toBe(lines.length)
    },
  )

  it('by a kill records no line twice after a repetition', async () => {
    const target = temp.file('killed.db')
    const args = ['import', target, '-', '--record']
    const lines = linesOf(2000)
    await endImport(args, lines, 1, 'SIGKILL')
    expect(await runCli(args, { stdin: lines.join('') })).toMatchObject({ exit: 0 })
    const { stdout } = await runCli([
      'count',
      target,
      '-f',
      'n_not_null=1',
      '--by',
      'n',
      '--top',
      '1',
      '--json',
    ])
    expect(JSON.parse(stdout)).toMatchObject({ total: lines.length, values: [{ count: 1 }] })
  })
})

const eventLine = (n: number): string =>
  JSON.stringify({
    id: `01a19b7c-b698-754b-a005-${String(n).padStart(12, '0')}`,
    created_at: `2026-11-02T09:00:00.${String(n).padStart(6, '0')}Z`,
    username: null,
    system: false,
    type: 'note',
    source: null,
    attributes: { n },
  })
