import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { EventCounts } from 'daybook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, runScript } from '../support/child.js'
import { hasCurl, startCommand } from '../support/curl.js'
import { listOf } from '../support/http.js'
import { tempDir } from '../support/temp.js'

/*
 * Runs every shell command of the README's "Try it" and "HTTP" word by word, but for the port, against the
 * demo that `npm start` starts.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8')
const section = (title: string): string => readme.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!
const blocks = (title: string): string[] =>
  [...section(title).matchAll(/^```sh\n(.*?)^```/gms)].map(([, code]) => code!)

const run = promisify(execFile)
const [start, ...walk] = blocks('Try it')

/** What each block, in the README's order, must print. */
const expected: readonly ((output: string) => void)[] = [
  (output) => expect(JSON.parse(output)).toMatchObject({ data: { attributes: { code: 'shop' } } }),
  (output) =>
    expect(JSON.parse(output)).toMatchObject({
      data: [
        {
          attributes: {
            type: 'api:projects:create',
            username: 'ann',
            system: true,
            request_method: 'POST',
            request_path: '/api/projects',
            request_body: { code: 'shop', name: 'Web shop' },
            response_status: 201,
          },
          relationships: { source: { links: { source: '/api/projects/shop' } } },
        },
      ],
    }),
  (output) => expect(JSON.parse(output)).toMatchObject({ data: [{ type: 'event' }] }),
  (output) =>
    expect(JSON.parse(output)).toMatchObject({
      data: [{ attributes: { type: 'api:changes:success' } }],
    }),
  (output) => expect(output).toMatch(/^a page of [1-9]\d*\n/),
  (output) => {
    const [response = '', list = ''] = output.split(/\n(?={)/)
    expect(response).toContain('201 Created')
    expect(response).toMatch(/location: \/api\/events\/[0-9a-f-]{36}/i)
    expect(JSON.parse(list)).toMatchObject({
      data: [
        {
          attributes: { type: 'deploy:note', username: 'bob', system: false, text: 'went well' },
          relationships: { source: { links: { source: '/api/projects/shop' } } },
        },
      ],
    })
  },
  (output) => {
    const shown = [...section('Try it').matchAll(/^```json\n(.*?)^```/gms)].at(-1)![1]!
    expect(JSON.parse(output)).toEqual(JSON.parse(shown))
  },
]

const typesOf = (output: string): unknown[] =>
  listOf({ body: output }).data.map(({ attributes }) => attributes['type'])

/** The same for "HTTP", but for the stream, which has no end. */
const expectedOfHttp: readonly ((output: string) => void)[] = [
  (output) => expect(new Set(typesOf(output))).toEqual(new Set(['api:steps:success'])),
  (output) => {
    const { meta } = JSON.parse(output) as { meta: EventCounts }
    expect(meta.total).toBeGreaterThan(0)
    expect(meta.buckets).toMatchObject({ zone: 'Europe/Berlin' })
    expect(meta.facets['username']!.values.map(({ value }) => value)).toContain('ann')
  },
  (output) => {
    expect(output).toMatch(/^created_at,type,username,.*,name,url_params_project_code$/m)
    expect(output).toMatch(/^x-total-count: [1-9]/im)
  },
  (output) =>
    expect(JSON.parse(output)).toMatchObject({ data: [{ attributes: { code: 'shop' } }] }),
  (output) => {
    const [list = '', status] = output.split(/(?<=})(?=304\n$)/)
    expect(typesOf(list)).toContain('api:projects:create')
    expect(status).toBe('304\n')
  },
]

/** The same for "Bring your own records", whose first block fills the log of a second demo. */
const expectedOfImport: readonly ((output: string) => void)[] = [
  (output) => {
    const answers = output.trim().split(/\n?(?={"jsonapi")/)
    const [pedro, sorted, tagged] = answers.map((text) => listOf({ body: text }).data)
    expect(pedro!.map(({ attributes }) => attributes['type'])).toEqual([
      'RunInstances',
      'DescribeInstances',
    ])
    expect(pedro![0]!.attributes).toMatchObject({
      username: 'pedro',
      system: false,
      userIdentity: { userName: 'pedro' },
      occurred_at: '2024-02-29T07:15:00.000000Z',
    })
    const names = sorted!.map(({ attributes }) => String(attributes['eventName']))
    expect(names).toHaveLength(5)
    expect(names).toEqual(names.toSorted())
    expect(tagged!.map(({ attributes }) => attributes['type'])).toEqual(['DescribeInstances'])
  },
]

async function startDemo(file: string): Promise<{ demo: Child; url: string }> {
  const demo = runScript('examples/workflow-service/main.ts', [], {
    PORT: '0',
    DAYBOOK_STORE: `sqlite:${file}`,
    DAYBOOK_TRAFFIC: 'off',
  })
  await demo.saw('\n')
  return { demo, url: /http:\/\/\S+/.exec(demo.stdout())![0] }
}

async function runBlock(
  code: string,
  replacements: Readonly<Record<string, string>>,
): Promise<string> {
  let script = code
  for (const [from, to] of Object.entries(replacements)) script = script.replaceAll(from, to)
  const { stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: root })
  expect(stderr.replaceAll(/^npm warn .*\n?/gm, '')).toBe('')
  return stdout.replaceAll('\r\n', '\n')
}

describe.skipIf(!hasCurl)('the README with curl', () => {
  const temp = tempDir()
  let demo: Child
  let url: string

  beforeAll(async () => {
    ;({ demo, url } = await startDemo(temp.file('daybook.db')))
  })
  afterAll(async () => {
    await demo.kill('SIGTERM')
    temp.remove()
  })

  it('starts as it says', () => {
    expect(start).toBe('npm install && npm start\n')
    const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      scripts: { start: string }
    }
    expect(manifest.scripts.start).toBe(
      'npm run build:page && tsx --import ./test/support/typescript-threads.js examples/workflow-service/main.ts',
    )
    expect(demo.stdout()).toBe(`workflow service at ${url}\n`)
  })

  it('has an expectation for each command', () => {
    expect(walk).toHaveLength(expected.length)
  })

  it.each(walk.map((code, i) => [i + 1, code] as const))('command %i', async (number, code) => {
    expected[number - 1]!(await runBlock(code, { 'http://localhost:3000': url }))
  })

  it('follows the log, and asks in other ways', async () => {
    const [following, ...others] = blocks('HTTP').toSorted(
      (a, b) => Number(b.includes('/stream')) - Number(a.includes('/stream')),
    )
    const stream = startCommand('bash', [
      '-c',
      `exec ${following!.replaceAll('http://localhost:3000', url)}`,
    ])
    try {
      await stream.saw('retry: ')
      await runBlock(walk[3]!, { 'http://localhost:3000': url })
      await stream.saw('"type":"api:changes:create"')
    } finally {
      await stream.stop()
    }
    expect(others).toHaveLength(expectedOfHttp.length)
    for (const [i, code] of others.entries())
      expectedOfHttp[i]!(await runBlock(code, { 'http://localhost:3000': url }))
  })

  it('imports records and asks for them', async () => {
    const [importing, ...asking] = blocks('Bring your own records')
    const file = temp.file('trail.db')
    expect(await runBlock(importing!, { 'sqlite:trail.db': `sqlite:${file}` })).toContain('5')
    const imported = await startDemo(file)
    try {
      expect(asking).toHaveLength(expectedOfImport.length)
      for (const [i, code] of asking.entries())
        expectedOfImport[i]!(await runBlock(code, { 'http://localhost:3000': imported.url }))
    } finally {
      await imported.demo.kill('SIGTERM')
    }
  })
})
