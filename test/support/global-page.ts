import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('../../adapters/page', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/daybook', import.meta.url))
const packageFolder = fileURLToPath(new URL('../../dist/page', import.meta.url))

/** Writes the file atomically, because other runs may read or write it. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true })
  // The temporary file is in another folder, so that it is never packed.
  const beside = path.join(cache, randomUUID())
  await fs.mkdir(cache, { recursive: true })
  await fs.writeFile(beside, content)
  await fs.rename(beside, file)
}

/** Builds the page for production. In the environment of the tests, the build would differ. */
async function buildPage(): ReturnType<typeof build> {
  const { NODE_ENV } = process.env
  process.env['NODE_ENV'] = 'production'
  try {
    return await build({ configFile: path.join(root, 'vite.config.ts'), build: { write: false } })
  } finally {
    process.env['NODE_ENV'] = NODE_ENV
  }
}

/** Builds the audit page from its sources into a folder, for the servers of the tests. */
export async function writePage(folder: string): Promise<void> {
  const built = await buildPage()
  if (!('output' in built)) throw new Error('expected one build')
  const isDocument = (file: string): boolean => file.endsWith('.html')
  const files = built.output.toSorted(
    (one, other) => Number(isDocument(one.fileName)) - Number(isDocument(other.fileName)),
  )
  // The document is written last because it refers to the others.
  for (const file of files) {
    const content = file.type === 'chunk' ? file.code : file.source
    await writeWhole(path.join(folder, file.fileName), content)
  }
  for (const name of await fs.readdir(path.join(root, 'public')))
    await writeWhole(path.join(folder, name), await fs.readFile(path.join(root, 'public', name)))
}

/** Builds the audit page where the package has it. */
export default (): Promise<void> => writePage(packageFolder)
