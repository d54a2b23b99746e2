import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { ApiPackage } from '@microsoft/api-extractor-model'
import { entryPage, indexPage, type LinkTable, linkTable } from './api-pages.js'

/*
 * Writes what the site has besides the pages in the repository: a page of the API reference for each
 * entry point of the package (`docs/api`), made from the docstrings of its declarations, and copies of
 * the benchmark results (`docs/benchmarks`). They are not committed.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const cache = path.join(root, 'docs/.vitepress/cache')
const declarations = path.join(cache, 'types')
const output = path.join(root, 'docs/api')

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

interface Entry {
  /** As users import it: `daybook/sqlite`. */
  readonly name: string
  /** The name of its page, without the ending. */
  readonly page: string
  readonly declarations: string
}

function readEntries(): readonly Entry[] {
  const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  return Object.entries(manifest.exports).flatMap(([key, target]) =>
    typeof target === 'string'
      ? []
      : {
          name: key.replace(/^\./, 'daybook'),
          page: key === '.' ? 'daybook' : key.slice(2).replaceAll('/', '-'),
          declarations: path.join(declarations, path.relative('./dist', target.types)),
        },
  )
}

function emitDeclarations(): void {
  fs.rmSync(declarations, { recursive: true, force: true })
  const tsc = path.join(root, 'node_modules/.bin/tsc')
  execFileSync(
    tsc,
    ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', declarations],
    { cwd: root, stdio: 'inherit' },
  )
}

function extract(entry: Entry): ApiPackage {
  const model = path.join(cache, `${entry.page}.api.json`)
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entry.declarations,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2023',
            lib: ['es2023', 'esnext.disposable'],
            module: 'nodenext',
            moduleResolution: 'nodenext',
            strict: true,
            skipLibCheck: true,
            types: ['node'],
          },
          files: [entry.declarations],
        },
      },
      docModel: { enabled: true, includeForgottenExports: true, apiJsonFilePath: model },
      apiReport: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(root, 'package.json'),
  })
  Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      // Only errors stop the build: unexported types of signatures are shown as text.
      message.handled = message.logLevel !== ExtractorLogLevel.Error
    },
  })
  // TSDoc calls the tag by another name.
  const text = fs.readFileSync(model, 'utf8').replaceAll('@default ', '@defaultValue ')
  fs.writeFileSync(model, text)
  return ApiPackage.loadFromJsonFile(model)
}

/** The results of the benchmarks, which pages link to, are beside `docs`. */
function copyResults(): void {
  const from = path.join(root, 'benchmarks')
  const to = path.join(root, 'docs/benchmarks')
  fs.rmSync(to, { recursive: true, force: true })
  fs.mkdirSync(to, { recursive: true })
  for (const name of fs.readdirSync(from).filter((file) => file.endsWith('.md')))
    fs.copyFileSync(path.join(from, name), path.join(to, name))
  fs.cpSync(path.join(from, 'charts'), path.join(to, 'charts'), { recursive: true })
}

copyResults()
emitDeclarations()
fs.rmSync(output, { recursive: true, force: true })
fs.mkdirSync(output, { recursive: true })
const entries = readEntries().map((entry) => ({ ...entry, api: extract(entry) }))
const links: LinkTable = linkTable(entries)
for (const entry of entries)
  fs.writeFileSync(path.join(output, `${entry.page}.md`), entryPage(entry, links))
fs.writeFileSync(path.join(output, 'index.md'), indexPage(entries))
