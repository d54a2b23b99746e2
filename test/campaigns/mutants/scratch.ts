import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Mutant } from './table.js'

const project = path.join(import.meta.dirname, '../../..')
const CONFIG = 'test/campaigns/mutants/vitest.config.ts'
/** Folders of caches. Each copy needs its own. */
const CACHES: ReadonlySet<string> = new Set(['.cache', '.vite', '.vitest'])
const MAX_WORKERS = 2

export interface RunOptions {
  /** Ends after the first failure. */
  readonly bail?: boolean
}

/** A copy of the project, in which lines are replaced. */
export interface Scratch {
  /** Runs test files in this order with these mutants. Resolves to the failed files. */
  run(
    files: readonly string[],
    mutants: readonly Mutant[],
    options?: RunOptions,
  ): Promise<readonly string[]>
  remove(): void
}

export const isUnitTest = (file: string): boolean => file.startsWith('test/unit/')

/**
 * The text with the mutant in place of its line, with the same indentation. Throws unless the line occurs exactly
 * once.
 */
export function withMutant(text: string, { file, line, mutant }: Mutant): string {
  const lines = text.split('\n')
  const at = lines.findIndex((one) => one.trim() === line)
  if (at === -1 || lines.findLastIndex((one) => one.trim() === line) !== at)
    throw new Error(`${file}: the line does not stand there once: ${line}`)
  return lines
    .with(
      at,
      lines[at]!.replace(line, () => mutant),
    )
    .join('\n')
}

/** Copies the files that git knows, and new files. */
function copyProject(root: string): void {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const files = execFileSync('git', listed, { cwd: project, encoding: 'utf8' }).split('\0')
  for (const file of files)
    if (fs.existsSync(path.join(project, file)) && file !== '')
      fs.cpSync(path.join(project, file), path.join(root, file))
  const modules = path.join(project, 'node_modules')
  fs.mkdirSync(path.join(root, 'node_modules'))
  for (const name of fs.readdirSync(modules))
    if (!CACHES.has(name))
      fs.symlinkSync(path.join(modules, name), path.join(root, 'node_modules', name))
}

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[]
}

const ERROR_OF = /This error originated in "([^"]+)" test file/g

export function createScratch(): Scratch {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-mutants-')))
  copyProject(root)
  const report = path.join(root, 'node_modules/.cache/report.json')

  /** The failed files, including files with an error outside of their tests. Throws if no file failed. */
  const failedFiles = (files: readonly string[], output: string): readonly string[] => {
    const { testResults }: Report = fs.existsSync(report)
      ? (JSON.parse(fs.readFileSync(report, 'utf8')) as Report)
      : { testResults: [] }
    const failed = testResults.filter(({ status }) => status === 'failed')
    const names = new Set([
      ...failed.map(({ name }) => path.relative(root, name)),
      ...Array.from(output.matchAll(ERROR_OF), ([, name]) => name),
    ])
    const found = files.filter((file) => names.has(file))
    if (found.length > 0) return found
    throw new Error(`no file has failed, but the run has:\n${output.slice(-5000)}`)
  }

  const runTests = async (
    files: readonly string[],
    { bail = false }: RunOptions,
  ): Promise<readonly string[]> => {
    if (files.length === 0) return []
    fs.rmSync(report, { force: true })
    const options = [`--config=${CONFIG}`, `--maxWorkers=${MAX_WORKERS}`, `--bail=${bail ? 1 : 0}`]
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`]
    const args = ['node_modules/vitest/vitest.mjs', 'run', ...options, ...reporters, ...files]
    const unit = files.every(isUnitTest) ? { DAYBOOK_MUTANTS_UNIT: '1' } : {}
    const env = { ...process.env, ...unit }
    const child = spawn(process.execPath, args, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const add = (text: Buffer): void => void (output += text.toString())
    child.stdout.on('data', add)
    child.stderr.on('data', add)
    const [code] = await once(child, 'close')
    return code === 0 ? [] : failedFiles(files, output)
  }

  return {
    async run(files, mutants, options = {}) {
      for (const mutant of mutants) {
        const place = path.join(root, mutant.file)
        fs.writeFileSync(place, withMutant(fs.readFileSync(place, 'utf8'), mutant))
      }
      try {
        return await runTests(files, options)
      } finally {
        for (const { file } of mutants)
          fs.copyFileSync(path.join(project, file), path.join(root, file))
      }
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  }
}
