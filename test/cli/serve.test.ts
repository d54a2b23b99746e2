import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Child, runScript } from '../support/child.js'
import { postgresDatabase } from '../support/database.js'
import { tempDir } from '../support/temp.js'
import { openFileLog } from './logs.js'
import { runCli } from './run-cli.js'
import { eventsOf, send, type Serving, signIn, startServing } from './serving.js'
import { config } from './workflow-config.js'

/** A file with three events that no process has open. */
async function closedLog(): Promise<{ file: string; temp: ReturnType<typeof tempDir> }> {
  const log = openFileLog()
  await log.audit.record('api:projects:create', { name: 'shop' }, { username: 'ann' })
  await log.audit.recordCustom('deploy:note', { n: 1 })
  await log.audit.recordCustom('deploy:note', { n: 2 })
  await log.audit.close()
  return { file: log.file, temp: log.temp }
}

let file: string
let temp: ReturnType<typeof tempDir>
beforeAll(async () => {
  ;({ file, temp } = await closedLog())
})
afterAll(() => {
  temp.remove()
  const own = fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('daybook-serve-'))
  expect(own.filter((name) => name.includes(`-${process.pid}-`))).toEqual([])
})

describe('the address', () => {
  let serving: Serving
  let cookie: string
  beforeAll(async () => {
    serving = await startServing([file])
  })
  afterAll(async () => {
    expect(await serving.end()).toMatchObject({
      exit: 130,
      stdout: `${serving.address}\n`,
      stderr: expect.stringContaining('Ctrl-C ends the server\n') as string,
    })
    await expect(send(serving.origin)).rejects.toThrow('ECONNREFUSED')
  })

  it('is needed to read anything', async () => {
    const { port } = new URL(serving.origin)
    for (const path of ['/', '/audit', '/api/events', '/api/events/stream', '/login'])
      for (const headers of [
        {},
        { cookie: `daybook-${port}=`, authorization: 'Basic YW5uOmFubg==' },
      ])
        expect((await send(serving.origin + path, { headers })).status).toBe(
          path === '/login' ? 403 : 401,
        )
    expect((await send(`${serving.origin}/audit`)).body).toBe(
      'open the address that daybook serve has printed\n',
    )
    const other = serving.address.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    expect(await send(other)).toMatchObject({
      status: 403,
      body: 'this is not the address that daybook serve has printed\n',
    })
  })

  it('gives one browser a cookie, once', async () => {
    expect((await send(serving.address, { method: 'HEAD' })).headers['set-cookie']).toBeUndefined()
    const { status, headers } = await send(serving.address)
    expect([status, headers.location, headers['referrer-policy']]).toEqual([
      303,
      '/audit',
      'no-referrer',
    ])
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^daybook-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ])
    cookie = headers['set-cookie']![0]!.split(';')[0]!
    const again = await send(serving.address)
    expect([again.status, again.headers['set-cookie']]).toEqual([403, undefined])
    expect(again.body).toContain('this address was used already, and works once')
    // A browser with the cookie may open the address again.
    expect((await send(serving.address, { headers: { cookie } })).headers.location).toBe('/audit')
    expect(await eventsOf(serving.address, cookie)).toHaveLength(3)
    const page = await send(`${serving.origin}/audit`, { headers: { cookie } })
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('audit.db')])
  })

  it('works for requests to this server only', async () => {
    const { port, host } = new URL(serving.origin)
    const statusOf = async (headers: object, options: object = {}): Promise<number> =>
      (await send(`${serving.origin}/audit`, { headers: { cookie, ...headers }, ...options }))
        .status
    expect(await statusOf({ host: `LocalHost:${port}` })).toBe(200)
    for (const other of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      '127.0.0.1:1',
      '[::1]',
    ])
      expect([other, await statusOf({ host: other })]).toEqual([other, 421])
    expect(await statusOf({}, { path: `http://evil.example/audit` })).toBe(421)
    expect((await send(serving.origin, { headers: { host: `evil.example:${port}` } })).body).toBe(
      `this server answers requests to ${host} only\n`,
    )
  })

  it('works for requests of this origin only', async () => {
    const statusOf = async (headers: object): Promise<number> =>
      (await send(`${serving.origin}/api/events`, { headers: { cookie, ...headers } })).status
    expect(await statusOf({ origin: serving.origin, 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(await statusOf({ 'sec-fetch-site': 'none' })).toBe(200)
    for (const origin of ['null', 'https://evil.example', 'http://127.0.0.1:1'])
      expect([origin, await statusOf({ origin })]).toEqual([origin, 403])
    for (const site of ['cross-site', 'same-site'])
      expect(await statusOf({ 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).toBe(403)
    const framed = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    expect(await statusOf({ ...framed, 'sec-fetch-site': 'same-site' })).toBe(403)
  })

  it('answers a link on another site with a page that links to itself, because browsers send no cookie', async () => {
    const opened = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    const { status, headers, body } = await send(`${serving.origin}/audit`, { headers: opened })
    expect([status, headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
    expect(body).toContain('<a href="/audit">')
  })

  it('takes a query in the body, from this origin and with the cookie only', async () => {
    for (const path of ['/api/events/search', '/api/events/counts'])
      for (const [more, status] of [
        [{ cookie }, 200],
        [{ cookie, origin: 'https://evil.example' }, 403],
        [{ cookie, 'sec-fetch-site': 'cross-site' }, 403],
        [{}, 401],
      ] as const) {
        const headers = { 'content-type': 'application/x-www-form-urlencoded', ...more }
        const sent = await send(serving.origin + path, { method: 'POST', headers })
        expect([more, sent.status]).toEqual([more, status])
      }
  })

  it('shows no concealed attributes', async () => {
    const { address, origin, end } = await startServing([file, '--conceal', 'name'])
    const headers = { cookie: await signIn(address) }
    expect(JSON.stringify(await eventsOf(address, headers.cookie))).not.toContain('"name"')
    const { status } = await send(`${origin}/api/events?filter[name_eq]=x`, { headers })
    expect(status).toBe(400)
    await end()
  })

  it('reads, and changes nothing', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const path of ['/api/events', '/login', '/audit']) {
        const { status, headers } = await send(serving.origin + path, {
          method,
          headers: { cookie, 'content-type': 'application/vnd.api+json' },
        })
        expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
      }
    const me = await send(`${serving.origin}/api/events/me`, { headers: { cookie } })
    expect(JSON.parse(me.body)).toMatchObject({
      data: { attributes: { may: { create: false, list: true, export: true }, restricted: false } },
    })
    for (const path of ['/api/subscriptions', '/api/notification_channels', '/api/views'])
      expect((await send(serving.origin + path, { headers: { cookie } })).status).toBe(404)
    expect(await eventsOf(serving.address, cookie)).toHaveLength(3)
  })

  it('is reachable from this machine only', async () => {
    const socket = net.connect(Number(new URL(serving.origin).port), '127.0.0.2')
    await expect(
      new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject)),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})

describe('the command', () => {
  it('prints the address as JSON, and refuses a port that is taken', async () => {
    const serving = await startServing([file, '--json'])
    const { port } = new URL(serving.address)
    const taken = await runCli(['serve', file, '--port', port])
    expect(taken).toEqual({
      exit: 1,
      stdout: '',
      stderr: `error: --port ${port}: another process uses this port\n`,
    })
    const { stdout } = await serving.end()
    expect(stdout).toBe(`${JSON.stringify({ url: serving.address })}\n`)
    const again = await startServing([file, '--port', port])
    expect(new URL(again.address).port).toBe(port)
    await again.end()
  })

  it.each([
    [2, ['http://127.0.0.1:1/api/events'], 'serve works on sqlite and postgres, not on http'],
    [2, ['FILE', 'http://127.0.0.1:1/'], 'serve works on files and on Postgres'],
    [2, ['FILE', 'FILE'], 'serve takes one log, or archive files'],
    [2, ['FILE', 'LINES'], 'serve takes one log, or archive files'],
    [
      2,
      ['LINES', 'postgres://ann:secret@localhost/x'],
      'postgres://localhost/x: serve takes one log',
    ],
    [2, ['FILE', '--port', '65536'], 'must be a whole number from 0 to 65535'],
    [3, ['nothing.db'], 'there is no file nothing.db'],
    [3, ['EMPTY'], 'there are no .ndjson, .ndjson.gz or .parquet files in'],
    [1, ['LINES'], 'wrong.ndjson: line 1: not an event'],
  ])('ends with exit code %i for %j', async (exit, args, message) => {
    fs.writeFileSync(temp.file('wrong.ndjson'), '{"id":1}\n')
    fs.mkdirSync(temp.file('empty'), { recursive: true })
    const places: Readonly<Record<string, string>> = {
      FILE: file,
      LINES: temp.file('wrong.ndjson'),
      EMPTY: temp.file('empty'),
    }
    const result = await runCli(['serve', ...args.map((arg) => places[arg] ?? arg)])
    expect(result).toMatchObject({ exit, stdout: '' })
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toContain('secret')
  })

  it('does not migrate an older log', async () => {
    const older = temp.file('older.db')
    fs.copyFileSync(file, older)
    const database = new Database(older)
    database.exec('UPDATE daybook_schema SET version = 1')
    database.close()
    const bytes = fs.readFileSync(older)
    expect(await runCli(['serve', older])).toEqual({
      exit: 1,
      stdout: '',
      stderr: `error: ${older} has schema version 1, not 2: run daybook migrate\n`,
    })
    expect(fs.readFileSync(older).equals(bytes)).toBe(true)
  })

  it('serves a log on Postgres', async () => {
    const database = await postgresDatabase()
    onTestFinished(() => database.remove())
    expect((await runCli(['serve', database.url])).stderr).toContain('run daybook migrate')
    const audit = new AuditLog({
      types: {},
      store: postgresStore({ connectionString: database.url }),
    })
    await audit.recordCustom('deploy:note', {})
    await audit.close()
    const serving = await startServing([], { DAYBOOK_LOG: database.url })
    onTestFinished(async () => void (await serving.end()))
    expect(await eventsOf(serving.address, await signIn(serving.address))).toHaveLength(1)
  })
})

/** Names, contents and times of all files in a folder. */
const contentsOf = (folder: string) =>
  fs
    .readdirSync(folder)
    .toSorted()
    .map((name) => {
      const { mtimeMs, mode } = fs.statSync(path.join(folder, name))
      return { name, mtimeMs, mode, bytes: fs.readFileSync(path.join(folder, name)) }
    })

/** The command in a separate process, with its temporary files in `folder`. */
async function startChild(args: readonly string[], folder: string) {
  const child: Child = runScript('adapters/cli/main.ts', ['serve', ...args], { TMPDIR: folder })
  onTestFinished(async () => {
    if (child.process.exitCode === null && child.process.signalCode === null) await child.kill()
  })
  await child.saw('\n')
  const address = child.stdout().trim()
  return { child, address, cookie: await signIn(address) }
}

describe('a SQLite file', () => {
  it('is read without a file beside it, also with the events of a WAL', async () => {
    const log = openFileLog()
    const folder = tempDir()
    onTestFinished(async () => {
      await log.close()
      fs.chmodSync(folder.dir, 0o755)
      folder.remove()
    })
    await log.audit.recordCustom('deploy:note', { n: 1 })
    const main = path.join(folder.dir, 'audit.db')
    fs.copyFileSync(log.file, main)
    fs.copyFileSync(`${log.file}-wal`, `${main}-wal`)
    // The event is in the WAL only.
    expect(fs.readFileSync(main).includes('deploy:note')).toBe(false)
    const link = temp.file('link.db')
    fs.symlinkSync(main, link)
    fs.chmodSync(folder.dir, 0o555)
    const before = contentsOf(folder.dir)
    for (const name of [main, link]) {
      const serving = await startServing([name])
      expect(await eventsOf(serving.address, await signIn(serving.address))).toHaveLength(1)
      expect(contentsOf(folder.dir)).toEqual(before)
      expect((await serving.end()).stderr).toContain(`no process has ${name} open`)
      expect(contentsOf(folder.dir)).toEqual(before)
    }
  })

  it('is followed while a service writes to it', async () => {
    const log = openFileLog()
    const folder = tempDir()
    onTestFinished(async () => {
      await log.close()
      folder.remove()
    })
    await log.audit.recordCustom('deploy:note', { n: 1 })
    const names = fs.readdirSync(log.temp.dir).toSorted()
    const { child, address, cookie } = await startChild([log.file], folder.dir)
    expect(await eventsOf(address, cookie)).toHaveLength(1)
    await log.audit.recordCustom('deploy:note', { n: 2 })
    expect(await eventsOf(address, cookie)).toHaveLength(2)
    expect(fs.readdirSync(log.temp.dir).toSorted()).toEqual(names)
    expect(fs.readdirSync(folder.dir)).toEqual([])
    await child.kill('SIGTERM')
    expect(child.process.exitCode).toBe(143)
  })

  it('is followed once a service opens it', async () => {
    const closed = await closedLog()
    const folder = tempDir()
    onTestFinished(() => {
      closed.temp.remove()
      folder.remove()
    })
    const { child, address, cookie } = await startChild([closed.file], folder.dir)
    expect(fs.readdirSync(folder.dir)).toHaveLength(1)
    const request = http.get(`${new URL(address).origin}/api/events/stream`, {
      headers: { cookie },
    })
    const [stream] = (await once(request, 'response')) as [http.IncomingMessage]
    const ended = once(stream.resume(), 'end')
    const service = new AuditLog({ types: {}, store: sqliteStore({ filename: closed.file }) })
    await service.recordCustom('deploy:note', { n: 3 })
    // The page connects again then.
    await ended
    await expect.poll(() => eventsOf(address, cookie)).toHaveLength(4)
    await expect.poll(() => fs.readdirSync(folder.dir)).toEqual([])
    await service.recordCustom('deploy:note', { n: 4 })
    expect(await eventsOf(address, cookie)).toHaveLength(5)
    await service.close()
    await child.kill('SIGINT')
    expect(child.process.exitCode).toBe(130)
  })
})

describe('archive files', () => {
  let files: readonly string[]
  beforeAll(async () => {
    const lake = temp.file('lake/year=2026/month=11')
    fs.mkdirSync(lake, { recursive: true })
    files = [
      path.join(lake, 'events-a.parquet'),
      path.join(lake, 'events-b.ndjson.gz'),
      temp.file('notes.ndjson'),
    ]
    const [parquet, gzip, lines] = files as [string, string, string]
    await runCli(['export', file, '--format', 'parquet', '--out', parquet, '-f', 'username_eq=ann'])
    await runCli(['export', file, '--out', lines, '-f', 'type_eq=deploy:note'])
    const { gzipSync } = await import('node:zlib')
    fs.writeFileSync(gzip, gzipSync(fs.readFileSync(lines)))
    fs.writeFileSync(temp.file('lake/manifest.ndjson'), '{"file":"year=2026/…"}\n')
    fs.writeFileSync(path.join(lake, '.events-c.partial'), 'half')
  })

  it('are served together, each event once', async () => {
    const listed = await runCli(['list', file, '--json'])
    const ids = listed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id)
    const before = contentsOf(path.dirname(files[0]!))
    for (const [args, note] of [
      [files, '3 events of 3 files; 2 were there twice'],
      [[temp.file('lake')], '3 events of 2 files'],
    ] as const) {
      const serving = await startServing(args)
      const events = await eventsOf(serving.address, await signIn(serving.address))
      expect(events.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
      expect((await serving.end()).stderr.split('\n')[0]).toBe(note)
    }
    expect(contentsOf(path.dirname(files[0]!))).toEqual(before)
  })

  it('are served instead of the log of the environment', async () => {
    const serving = await startServing([files[2]!], { DAYBOOK_LOG: file })
    expect(await eventsOf(serving.address, await signIn(serving.address))).toHaveLength(2)
    await serving.end()
  })

  it('are described by the types of the configuration', async () => {
    const serving = await startServing([files[0]!, '--config', config])
    const headers = { cookie: await signIn(serving.address) }
    const types = await send(`${serving.origin}/api/events/types`, { headers })
    expect(types.body).toContain('"api:projects:create"')
    await serving.end()
  })

  it('are not served if Ctrl-C ends the import', async () => {
    const ended = await runCli(['serve', ...files], { signal: AbortSignal.abort() })
    expect(ended).toEqual({ exit: 130, stdout: '', stderr: '' })
  })

  it('leave no temporary database, whatever the end of the process', async () => {
    const folder = tempDir()
    onTestFinished(() => folder.remove())
    const killed = await startChild(files, folder.dir)
    const other = await startChild([files[2]!], folder.dir)
    const [first, second] = fs.readdirSync(folder.dir)
    for (const name of [first!, second!])
      expect(fs.statSync(folder.file(name)).mode & 0o777).toBe(0o700)
    await killed.child.kill('SIGKILL')
    expect(fs.readdirSync(folder.dir)).toHaveLength(2)
    // The next start removes the folder of the killed process, and keeps the folder of the running one.
    const next = await startChild(files, folder.dir)
    expect(fs.readdirSync(folder.dir)).toHaveLength(2)
    expect(await eventsOf(other.address, other.cookie)).toHaveLength(2)
    for (const [{ child }, signal, left] of [
      [other, 'SIGINT', 1],
      [next, 'SIGTERM', 0],
    ] as const) {
      await child.kill(signal)
      expect(child.process.exitCode).toBe(signal === 'SIGTERM' ? 143 : 130)
      expect(fs.readdirSync(folder.dir)).toHaveLength(left)
    }
  })
})
