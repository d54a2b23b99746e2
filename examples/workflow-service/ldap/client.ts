import { Client } from 'ldapts'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'

const TIMEOUT_MS = 2000
const PERSONS = '(objectClass=person)'

/** The settings `ldap_url`, `ldap_search_base` and `ldap_user_filter`. Without a URL there is no directory. */
export const directoryOf = ({ settings }: Pick<Service, 'settings'>) => ({
  url: settings.text('ldap_url'),
  base: settings.text('ldap_search_base') || 'dc=example,dc=org',
  filter: settings.text('ldap_user_filter') || PERSONS,
})

export async function withClient<T>(url: string, act: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ url, connectTimeout: TIMEOUT_MS, timeout: TIMEOUT_MS })
  try {
    return await act(client)
  } finally {
    await client.unbind().catch(() => {})
  }
}

/** Why the directory cannot be reached; undefined if it can, or if there is none. */
export async function unreachableReason(service: Pick<Service, 'settings'>) {
  const { url, base } = directoryOf(service)
  if (url === '') return undefined
  try {
    await withClient(url, (client) => client.search(base, { scope: 'base' }))
    return undefined
  } catch (error) {
    return failureData(error).error
  }
}
