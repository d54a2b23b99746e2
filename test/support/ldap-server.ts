import ldap from 'ldapjs'

export interface LdapServer {
  readonly url: string
  close(): Promise<void>
}

export interface LdapEntry {
  readonly dn: string
  readonly attributes: Readonly<Record<string, string | readonly string[]>>
}

/** Missing in the declarations of ldapjs. */
interface SearchResponse {
  send(entry: LdapEntry): void
  end(): void
}

const BASE = 'dc=example,dc=org'

/** Starts an LDAP server on `port` or a free one, with these entries below `dc=example,dc=org`. */
export async function startLdapServer(
  entries: () => readonly LdapEntry[],
  port = 0,
): Promise<LdapServer> {
  const server = ldap.createServer()
  const root: LdapEntry = { dn: BASE, attributes: { objectClass: 'domain', dc: 'example' } }
  server.search(BASE, (request: ldap.SearchRequest, response: SearchResponse, next: () => void) => {
    const found = request.scope === 'base' ? [root] : entries()
    for (const { dn, attributes } of found)
      if (request.filter.matches(attributes)) response.send({ dn, attributes })
    response.end()
    return next()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: server.url.replace('0.0.0.0', '127.0.0.1'),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
