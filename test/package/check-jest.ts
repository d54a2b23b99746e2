import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { blocksOf, docPages, root } from '../support/doc-pages.js'

/* The recipe of the documentation for tests of Jest in CommonJS, and its mode for ES modules. */

const VERSIONS = ['29', '30']

const [environment, config] = blocksOf(
  docPages.find(({ file }) => file === 'docs/guide/testing.md')!,
  'cjs',
)

const useLog = `
for (const store of ['memory', 'sqlite'])
  for (const isFaked of [false, true])
    test(store + (isFaked ? ' with faked timers' : ''), async () => {
      if (isFaked) jest.useFakeTimers()
      const audit = new AuditLog({
        store: store === 'memory' ? memoryStore() : sqliteStore({ filename: 'jest-' + isFaked + '.db' }),
        types: {},
      })
      const recorded = await audit.recordCustom('x', { error: new Error('broken'), found: new Map([['a', 1]]) })
      expect(recorded.attributes).toEqual({ error: 'Error: broken', found: { a: 1 } })
      expect((await audit.list({ filter: { type_eq: 'x' } })).events.length).toBe(1)
      await expect(audit.list('limit=x')).rejects.toBeInstanceOf(AuditLogError)
      await audit.close()
      jest.useRealTimers()
    })
`
const NAMES = {
  daybook: 'AuditLog, AuditLogError',
  'daybook/memory': 'memoryStore',
  'daybook/sqlite': 'sqliteStore',
}
const lines = (line: (names: string, from: string) => string): string =>
  Object.entries(NAMES)
    .map(([from, names]) => line(names, from))
    .join('\n')

const inCommonJs = lines((names, from) => `const { ${names} } = require('${from}')`) + useLog
const inModules =
  `import { jest } from '@jest/globals'\n` +
  lines((names, from) => `import { ${names} } from '${from}'`) +
  useLog

/** Runs the recipe on each version of Jest, with the package that the tarball has. Throws if a test fails. */
export function checkJest(tarball: string, temp: string): void {
  const jest = (cwd: string, bin: string, options: string): void => {
    const env = { ...process.env, NODE_OPTIONS: options }
    execFileSync(process.execPath, [bin, '--ci'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }
  for (const version of VERSIONS) {
    const host = path.join(temp, `jest-${version}`)
    const write = (name: string, text: string): void =>
      fs.writeFileSync(path.join(host, name), text)
    fs.mkdirSync(host)
    write('package.json', '{"private":true}')
    execFileSync(
      'npm',
      ['install', '--no-fund', '--no-audit', '--omit=peer', `jest@${version}`, tarball],
      {
        cwd: host,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const sqlite = path.join('node_modules', 'better-sqlite3')
    fs.symlinkSync(path.join(root, sqlite), path.join(host, sqlite))
    const bin = path.join(host, 'node_modules', 'jest', 'bin', 'jest.js')
    write('jest-daybook.cjs', environment!.code)
    write('jest.config.cjs', config!.code)
    write('log.test.js', inCommonJs)
    jest(host, bin, '')
    write('package.json', '{"private":true,"type":"module"}')
    write('jest.config.cjs', 'module.exports = { transform: {} }')
    write('log.test.js', inModules)
    for (const name of fs.readdirSync(host).filter((file) => file.includes('.db')))
      fs.rmSync(path.join(host, name))
    jest(host, bin, '--experimental-vm-modules')
    console.log(`Jest ${version} uses the package`)
  }
}
