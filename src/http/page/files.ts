import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { AuditLogError } from '../../errors.js'
import { moduleUrl } from '../../store/module-url.js'

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
  /** True if the file name contains a hash of the content. */
  readonly isHashed: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const HASHED = 'assets/'

/**
 * The folder of the built page. Resolved by package name, because a bundle may contain this module. Throws
 * `MISSING_DEPENDENCY` if the package is not installed where the bundle runs.
 */
export function pageFolder(from = moduleUrl): string {
  try {
    const manifest = createRequire(from).resolve('daybook/package.json')
    return path.join(path.dirname(manifest), 'dist', 'page')
  } catch (cause) {
    throw new AuditLogError(
      'MISSING_DEPENDENCY',
      `the audit page needs its files, which no bundle contains: install daybook where ${fileURLToPath(from)} runs, and keep it external when you bundle`,
      { cause },
    )
  }
}

async function readAsset(root: string, file: string): Promise<[name: string, PageAsset]> {
  const name = file.replaceAll(path.sep, '/')
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
  const text = await fs.readFile(path.join(root, file), 'utf8')
  return [name, { text, type, isHashed: name.startsWith(HASHED) }]
}

/** Reads all files of the page. Rejects if the page has not been built. */
export async function readPage(root = pageFolder()): Promise<PageFiles> {
  const document = await fs.readFile(path.join(root, 'index.html'), 'utf8')
  const files = await fs.readdir(root, { recursive: true })
  const wanted = files.filter((file) => path.extname(file) in TYPES)
  const assets = new Map(await Promise.all(wanted.map((file) => readAsset(root, file))))
  return { document, assets }
}
