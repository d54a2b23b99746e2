import type { Entry } from 'ldapts'
import type { Documents } from '../documents/documents.js'
import type { LdapGroup, LdapUser } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { noteUnresolved } from './approvers.js'
import { directoryOf, withClient } from './client.js'

const GROUPS = '(objectClass=groupOfNames)'

const textsOf = (entry: Entry, name: string): string[] =>
  [entry[name] ?? []].flat().map((value) => value.toString())

const uidIn = (dn: string): string => /^uid=([^,]+)/i.exec(dn)?.[1] ?? dn

const userOf = (entry: Entry): LdapUser => ({ id: textsOf(entry, 'uid')[0] ?? '', dn: entry.dn })

const groupOf = (entry: Entry): LdapGroup => ({
  id: textsOf(entry, 'cn')[0] ?? '',
  dn: entry.dn,
  members: textsOf(entry, 'member').map(uidIn),
})

const replaceEntries = (documents: Documents, users: LdapUser[], groups: LdapGroup[]) =>
  documents.write((tx) => {
    for (const { id } of documents.all('ldap_users')) tx.remove('ldap_users', id)
    for (const { id } of documents.all('ldap_groups')) tx.remove('ldap_groups', id)
    for (const user of users) tx.put('ldap_users', user)
    for (const group of groups) tx.put('ldap_groups', group)
  })

/** Copies users and groups of the directory. If there are no users, the copy stays as it is. */
export async function refreshDirectory(service: Service, username: string | null): Promise<void> {
  const { documents, note } = service
  const { url, base, filter } = directoryOf(service)
  if (url === '') return
  const where = { search_base: base, search_filter: filter }
  try {
    await withClient(url, async (client) => {
      const search = async (given: string): Promise<Entry[]> =>
        (await client.search(base, { filter: given })).searchEntries
      await note('api:ldap_refresh:user_start', where, username)
      const users = (await search(filter)).map(userOf)
      await note('api:ldap_refresh:group_start', { ...where, search_filter: GROUPS }, username)
      const groups = (await search(GROUPS)).map(groupOf)
      if (users.length === 0) {
        const message = 'the directory has no users that match the filter'
        await note('api:ldap_refresh:warn', { ...where, message }, username)
        return
      }
      await replaceEntries(documents, users, groups)
      const entry_counts = { users: users.length, groups: groups.length }
      await note('api:ldap_refresh:success', { entry_counts }, username)
    })
    await noteUnresolved(service)
  } catch (error) {
    await note('api:ldap_refresh:error', failureData(error), username)
  }
}
