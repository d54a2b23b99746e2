import { createSecretKey } from 'node:crypto'
import type { SubjectKeys } from 'daybook'
import { memorySubjectKeys } from 'daybook/memory'
import { postgresSubjectKeys } from 'daybook/postgres'
import { sqliteSubjectKeys } from 'daybook/sqlite'
import type { Documents } from './documents/documents.js'
import { type StoreOption, subjectsFile } from './options.js'
import { findKey } from './vault/vault.js'

/** Opens the keys of the users. A real service keeps the keys and the master key apart from the log. */
export async function openKeys(option: StoreOption, documents: Documents): Promise<SubjectKeys> {
  const master = createSecretKey(await findKey(documents, 'subjects'), 'base64')
  switch (option.kind) {
    case 'memory':
      return memorySubjectKeys({ master })
    case 'sqlite':
      return sqliteSubjectKeys({ filename: subjectsFile(option.filename), master })
    case 'postgres':
      return postgresSubjectKeys({ connectionString: option.connectionString, master })
  }
}
