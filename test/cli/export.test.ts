import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileLog, openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

const COUNT = 60
let log: FileLog
let ids: readonly string[]
beforeAll(async () => {
  log = openFileLog()
  const recorded = await Promise.all(
    Array.from({ length: COUNT }, (_, i) =>
      log.audit.record('api:projects:create', { name: `"shop"\n${i}` }, { username: 'ann' }),
    ),
  )
  ids = recorded.map((event) => event!.id)
})
afterAll(() => log.close())

const target = (name: string): string => log.temp.file(name)
const exported = (...args: readonly string[]) => runCli(['export', log.file, ...args])

describe('daybook export', () => {
  it('writes whole events to stdout, oldest first', async () => {
    const { exit, stdout } = await exported()
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids)
    expect(exit).toBe(0)
  })

  it.each(['ndjson', 'csv', 'cloudevents', 'ocsf', 'otlp'])(
    'continues a file of %s after its last whole line',
    async (format) => {
      const file = target(`cut.${format}`)
      const columns = format === 'csv' ? ['--columns', 'name'] : []
      expect((await exported('--format', format, ...columns, '-o', file)).exit).toBe(0)
      const whole = fs.readFileSync(file)
      for (const part of [0.3, 0.71, 0.999]) {
        fs.writeFileSync(file, whole.subarray(0, Math.floor(whole.length * part)))
        const again = await exported('--format', format, ...columns, '-o', file, '--resume')
        expect([again.exit, again.stderr]).toEqual([0, ''])
        if (format !== 'otlp') expect(fs.readFileSync(file).equals(whole)).toBe(true)
      }
      await exported('--format', format, ...columns, '-o', file, '--resume', '--manifest')
      const manifest = JSON.parse(fs.readFileSync(`${file}.manifest.json`, 'utf8')) as object
      const bytes = fs.readFileSync(file)
      expect(manifest).toEqual({
        file: `cut.${format}`,
        format,
        count: COUNT,
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      })
    },
  )

  it('writes Parquet as a whole, and leaves nothing of an export that fails', async () => {
    const file = target('events.parquet')
    expect((await exported('--format', 'parquet', '-o', file, '--manifest')).exit).toBe(0)
    const manifest = JSON.parse(fs.readFileSync(`${file}.manifest.json`, 'utf8')) as object
    expect(manifest).toMatchObject({ count: COUNT })
    const before = fs.readdirSync(log.temp.dir)
    const wrong = await exported(
      'filter[sorts][]=name',
      '--format',
      'parquet',
      '-o',
      target('x.parquet'),
    )
    expect(wrong.exit).toBe(2)
    expect(fs.readdirSync(log.temp.dir)).toEqual(before)
  })

  it('changes no file if the log cannot be reached', async () => {
    const file = target('kept.ndjson')
    fs.writeFileSync(file, 'an earlier export\n')
    for (const log of ['http://127.0.0.1:1/api/events', 'postgres://127.0.0.1:1/none']) {
      expect((await runCli(['export', log, '-o', file, '--overwrite'])).exit).toBe(3)
      expect((await runCli(['export', log, '-o', target('new.ndjson')])).exit).toBe(3)
    }
    expect(fs.readFileSync(file, 'utf8')).toBe('an earlier export\n')
    expect(fs.existsSync(target('new.ndjson'))).toBe(false)
  })

  it('never writes over the log', async () => {
    for (const out of [log.file, `${log.file}-wal`, `${log.temp.dir}/./audit.db`])
      for (const option of ['--overwrite', '--resume'])
        expect(await exported('-o', out, option)).toEqual({
          exit: 2,
          stdout: '',
          stderr: `error: --out ${out}: is the log itself\n`,
        })
    expect((await runCli(['count', log.file])).stdout).toBe(`${COUNT}\n`)
  })

  it('keeps a file without line breaks that is not an export', async () => {
    const file = target('binary')
    fs.writeFileSync(file, 'PNG')
    for (const format of ['ndjson', 'csv'])
      expect((await exported('--format', format, '-o', file, '--resume')).exit).toBe(2)
    expect(fs.readFileSync(file, 'utf8')).toBe('PNG')
    fs.writeFileSync(file, 'create')
    expect((await exported('--format', 'csv', '-o', file, '--resume')).exit).toBe(0)
    expect(fs.readFileSync(file, 'utf8')).toMatch(/^created_at,/)
  })

  it('refuses to replace a file, and to continue a file that it cannot continue', async () => {
    const file = target('there.ndjson')
    fs.writeFileSync(file, 'a letter\n')
    expect(await exported('-o', file)).toMatchObject({ exit: 2 })
    const resumed = await exported('-o', file, '--resume')
    expect(resumed.exit).toBe(2)
    expect(resumed.stderr).toContain('is no event in the format ndjson')
    expect(fs.readFileSync(file, 'utf8')).toBe('a letter\n')
    expect((await exported('-o', file, '--overwrite')).exit).toBe(0)
    expect((await exported('--format', 'parquet', '-o', file, '--resume')).exit).toBe(2)
    expect((await exported('--resume')).stderr).toBe('error: --resume needs --out\n')
    expect((await exported('--format', 'parquett')).stderr).toBe(
      'error: --format parquett: must be ndjson, csv, cloudevents, ocsf, otlp, parquet; did you mean parquet?\n',
    )
  })
})
