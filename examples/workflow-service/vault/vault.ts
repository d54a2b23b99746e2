import { randomBytes } from 'node:crypto'
import type { Documents } from '../documents/documents.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { type Child, scriptOf } from '../children/child.js'

export interface Vault {
  encrypt(text: string): Promise<string>
  decrypt(text: string): Promise<string>
  /** Replaces a pod whose configuration is outdated. */
  roll(): Promise<void>
}

/** A key, made at the first use. A real service keeps it apart from the data that it protects. */
export const findKey = (
  documents: Documents,
  id: 'vault' | 'channels' | 'subjects',
): Promise<string> =>
  documents.write((tx) => {
    const found = documents.get('vault_keys', id)
    if (found) return found.key
    const key = randomBytes(32).toString('base64')
    tx.put('vault_keys', { id, key })
    return key
  })

interface Pod {
  readonly algorithm: string
  readonly child: Child
}

/** The pod starts at the first use. The setting `secret_vault_algorithm` configures it. */
export function createVault(
  service: Pick<Service, 'documents' | 'settings' | 'note' | 'children'>,
): Vault {
  const { documents, settings, note, children } = service
  const configured = (): string => settings.text('secret_vault_algorithm') || 'aes-256-gcm'
  const start = async (algorithm: string): Promise<Pod> => {
    const child = await children.start(scriptOf('vault-pod'), [
      algorithm,
      await findKey(documents, 'vault'),
    ])
    return { algorithm, child }
  }
  const call = async (action: 'encrypt' | 'decrypt', text: string): Promise<string> =>
    (await (await current()).child.call(action, text)) as string

  let pod: Promise<Pod> | undefined
  let refused: string | undefined
  const current = (): Promise<Pod> =>
    (pod ??= start(configured()).catch((error: unknown) => {
      pod = undefined
      throw error
    }))

  return {
    encrypt: (text) => call('encrypt', text),
    decrypt: (text) => call('decrypt', text),
    async roll() {
      const old = await pod
      const algorithm = configured()
      if (!old || old.algorithm === algorithm || refused === algorithm) return
      try {
        const fresh = await start(algorithm)
        pod = Promise.resolve(fresh)
        old.child.kill()
        await note('info:secret_vault_pod_roll:summary', { restarted_count: 1, algorithm })
      } catch (error) {
        // The old pod stays, and this configuration is not tried again.
        refused = algorithm
        await note('error:secret_vault_pod_roll:failure', failureData(error))
      }
    },
  }
}
