// Patterns of table names.

/** `*` stands for any characters, everything else for itself. */
export function matcherOf(pattern: string): (name: string) => boolean {
  const literals = pattern.split(/\*+/).map((text) => text.replace(/[\\^$.+?()[\]{}|]/g, '\\$&'))
  const expression = new RegExp(`^${literals.join('.*')}$`, 's')
  return (name) => expression.test(name)
}
