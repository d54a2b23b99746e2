import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The built page: its document, and the files that the document asks for. */
export interface PageFiles {
  /** With places for what is known only where it is mounted. */
  readonly document: string
  /** By their path relative to the document. */
  readonly assets: ReadonlyMap<string, PageAsset>
}

export interface PageAsset {
  readonly text: string
  readonly type: string
  /** True where the name changes with the content. */
  readonly isHashed: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const HASHED = 'assets/'

/** The package's own folder, found by its name: modules are at other places once they are built. */
function folder(): string {
  const manifest = createRequire(import.meta.url).resolve('daybook/package.json')
  return path.join(path.dirname(manifest), 'dist', 'page')
}

async function readAsset(root: string, file: string): Promise<[name: string, PageAsset]> {
  const name = file.replaceAll(path.sep, '/')
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
  const text = await fs.readFile(path.join(root, file), 'utf8')
  return [name, { text, type, isHashed: name.startsWith(HASHED) }]
}

/** Reads them all, once; rejects where the page has not been built. */
export async function readPage(root = folder()): Promise<PageFiles> {
  const document = await fs.readFile(path.join(root, 'index.html'), 'utf8')
  const files = await fs.readdir(root, { recursive: true })
  const wanted = files.filter((file) => path.extname(file) in TYPES)
  const assets = new Map(await Promise.all(wanted.map((file) => readAsset(root, file))))
  return { document, assets }
}
