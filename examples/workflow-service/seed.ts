import { randomUUID } from 'node:crypto'
import type { Documents } from './documents/documents.js'
import { putValues } from './values.js'

/** Puts the first documents into a new store. Records no events, as no user did it. */
export async function seed(documents: Documents): Promise<void> {
  await documents.write((tx) => {
    if (documents.all('settings').length > 0) return
    const described = { description: '' }
    tx.put('projects', {
      id: randomUUID(),
      code: 'acme',
      name: 'Acme',
      description: 'The project that every new store starts with',
      archived: false,
    })
    for (const [code, name] of [
      ['dev', 'Development'],
      ['prod', 'Production'],
    ] as const)
      tx.put('nodes', {
        id: randomUUID(),
        node_type: 'environment',
        code,
        name,
        ...described,
        node_path: `/projects/acme/environments/${code}`,
      })
    tx.put('nodes', {
      id: randomUUID(),
      node_type: 'asset',
      code: 'web',
      name: 'Web server',
      ...described,
      node_path: '/projects/acme/environments/prod/assets/web',
    })
    putValues(documents, tx, 'settings', {
      id: randomUUID(),
      values: { maintenance_mode: false },
    })
    putValues(documents, tx, 'properties', { id: randomUUID(), values: {} })
  })
}
