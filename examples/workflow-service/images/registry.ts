import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Image } from '../model.js'

/* The image registry is a directory with one directory for each image, named by its content key. */

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Equal for recipes that build the same image. Throws if the context cannot be read. */
export async function contentKey({ context, instructions }: Image): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(instructions))
  const files = context === null ? [] : await readdir(context)
  for (const file of files.toSorted())
    hash.update(file).update(await readFile(join(context!, file)))
  return hash.digest('hex')
}

/** Resolves to true if the registry has the image. Rejects if its manifest cannot be read. */
export async function hasImage(registry: string, key: string): Promise<boolean> {
  try {
    JSON.parse(await readFile(join(registry, key, 'manifest.json'), 'utf8'))
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Removes the images whose keys are not needed; returns their number. */
export async function removeUnused(registry: string, needed: ReadonlySet<string>): Promise<number> {
  const keys = await readdir(registry).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const unused = keys.filter((key) => !needed.has(key))
  for (const key of unused) await rm(join(registry, key), { recursive: true, force: true })
  return unused.length
}
