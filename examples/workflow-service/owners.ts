import type { Documents } from './documents/documents.js'
import type { Owned } from './model.js'

const NO_OWNER = ''

/** Returns those whose process has ended. */
export async function findAbandoned<T extends Owned>(
  documents: Documents,
  owned: readonly T[],
): Promise<readonly T[]> {
  const others = new Set(owned.map(({ owner }) => owner ?? NO_OWNER))
  others.delete(documents.processId)
  if (others.size === 0) return []
  const ended = await documents.ended([...others])
  return owned.filter(({ owner }) => ended.has(owner ?? NO_OWNER))
}
