import { type LdapEntry, startLdapServer } from '../../support/ldap-server.js'
import type { Story } from './world.js'

const user = (uid: string): LdapEntry => ({
  dn: `uid=${uid},dc=example,dc=org`,
  attributes: { objectClass: 'person', uid },
})

const group = (cn: string, ...members: readonly string[]): LdapEntry => ({
  dn: `cn=${cn},dc=example,dc=org`,
  attributes: {
    objectClass: 'groupOfNames',
    cn,
    member: members.map((uid) => `uid=${uid},dc=example,dc=org`),
  },
})

export const directory: Story = async ({ post, set, saw, refused, startChange, until, get }) => {
  let entries = [user('bob'), group('operators', 'bob')]
  const server = await startLdapServer(() => entries)
  const steps = (name: string) => [{ action: 'approval', requires_approval_from: [name] }]
  const plan = (name: string) => ({ name: 'sign', steps: steps(name) })
  try {
    await set({ ldap_url: server.url })
    await post('/api/ldap_refreshes')
    await saw('api:ldap_refresh:success')
    await saw('api:ldap_refresh:user_start', { search_base: 'dc=example,dc=org' })
    const signed = await startChange('sign', steps('operators'))
    const [step] = signed.attributes['step_ids'] as string[]
    await until('a step that waits for approval', async () => {
      const { status } = (await get(`/api/steps/${step}`)).attributes
      return status === 'waiting_for_approval'
    })
    await refused(403, `POST /api/steps/${step}/approve`)
    await post(`/api/steps/${step}/approve`, 'decision', {}, 'bob')

    await refused(422, 'POST /api/changes change', plan('nobody'))
    await saw('warn:approval_identity_unresolved', { username: 'ann' })
    entries = []
    await post('/api/ldap_refreshes')
    await saw('api:ldap_refresh:warn')
  } finally {
    await server.close()
  }
  await post('/api/ldap_refreshes')
  await saw('api:ldap_refresh:error')
  await post('/api/changes', 'change', plan('anybody'))
  await saw('warn:approval_identity_validation_skipped')
  await set({ ldap_url: '' })
}
