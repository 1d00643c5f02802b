/** Light, dark, or as the system has it; kept in this browser. */
import { signal } from "@preact/signals";

export type Theme = "light" | "dark" | "system";
export const theme = signal<Theme>((localStorage.getItem("weft.theme") as Theme | null) ?? "system");

export function setTheme(wanted: Theme): void {
  theme.value = wanted;
  localStorage.setItem("weft.theme", wanted);
  applyTheme();
}

export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
