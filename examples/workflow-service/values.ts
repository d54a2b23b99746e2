import { randomUUID } from 'node:crypto'
import type { Documents, Transaction } from './documents/documents.js'
import type { Values, ValuesVersion } from './model.js'

/* Settings and properties: one document each. Every change also puts a version. */

export type ValuesKind = 'settings' | 'properties'

export function currentValues(documents: Documents, kind: ValuesKind): Values {
  const [values] = documents.all(kind)
  if (!values) throw new Error(`the store has no ${kind}`)
  return values
}

export function putValues(
  documents: Documents,
  tx: Transaction,
  kind: ValuesKind,
  values: Values,
): ValuesVersion {
  const version = {
    id: randomUUID(),
    version: (documents.all(`${kind}_versions`).at(-1)?.version ?? 0) + 1,
    created_at: new Date().toISOString(),
    values: values.values,
  }
  tx.put(kind, values)
  tx.put(`${kind}_versions`, version)
  return version
}
