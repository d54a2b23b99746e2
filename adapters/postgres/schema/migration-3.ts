import type { Names } from './names.js'

/** State that is not for good. Processes of version 2 write none of it. */
export const migration3 = (names: Names): string => `
  ALTER TABLE ${names.state} ADD forgotten_at bigint;
  CREATE INDEX state_forgotten_at ON ${names.state} (forgotten_at) WHERE forgotten_at IS NOT NULL;
`
