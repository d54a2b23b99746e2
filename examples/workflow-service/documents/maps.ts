import type { Kind, Kinds } from '../model.js'

/** Documents in memory. Those of a kind are in the order in which they were first put. */
export interface DocumentMaps {
  all<K extends Kind>(kind: K): readonly Kinds[K][]
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined
  put<K extends Kind>(kind: K, document: Kinds[K]): void
  remove(kind: Kind, id: string): void
}

export function createMaps(): DocumentMaps {
  const maps = new Map<Kind, Map<string, Kinds[Kind]>>()

  const mapOf = <K extends Kind>(kind: K): Map<string, Kinds[K]> => {
    let map = maps.get(kind)
    if (!map) maps.set(kind, (map = new Map()))
    return map as Map<string, Kinds[K]>
  }

  return {
    all: (kind) => [...mapOf(kind).values()],
    get: (kind, id) => mapOf(kind).get(id),
    put: (kind, document) => mapOf(kind).set(document.id, document),
    remove: (kind, id) => mapOf(kind).delete(id),
  }
}
