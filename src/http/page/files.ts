import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The built page: its document and its assets. */
export interface PageFiles {
  /** The HTML, with placeholders such as `{{api}}` that depend on the mount. */
  readonly document: string
  /** Assets by path, relative to the document. */
  readonly assets: ReadonlyMap<string, PageAsset>
}

export interface PageAsset {
  readonly text: string
  readonly type: string
  /** Whether the file name contains a hash of the content. */
  readonly isHashed: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const HASHED = 'assets/'

/** The folder of the built page. Resolved by package name, as source and built modules lie at different depths. */
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

/** Reads all files of the page. Rejects if the page has not been built. */
export async function readPage(root = folder()): Promise<PageFiles> {
  const document = await fs.readFile(path.join(root, 'index.html'), 'utf8')
  const files = await fs.readdir(root, { recursive: true })
  const wanted = files.filter((file) => path.extname(file) in TYPES)
  const assets = new Map(await Promise.all(wanted.map((file) => readAsset(root, file))))
  return { document, assets }
}
