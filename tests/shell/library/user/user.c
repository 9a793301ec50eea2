#include <line.h>

int main(void) { return line_error(1, 2, 1) == 0 && line_error(1, 2, 3) == 4 ? 0 : 1; }
