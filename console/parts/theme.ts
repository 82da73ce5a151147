// Light or dark: as the system says, unless a person has chosen. The choice is all that the console ever stores.
import { observable } from '../wire/observable.js'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'seriatim-colours'

function stored(): Theme {
  try {
    return THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'system'
  } catch {
    return 'system'
  }
}

const apply = (name: Theme): void => {
  if (name === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = name
}

export const theme = observable<Theme>(stored())
apply(theme.get())
theme.follow((name) => {
  apply(name)
  try {
    localStorage.setItem(KEY, name)
  } catch {
    // A browser that stores nothing forgets it with the tab.
  }
})
