// Smooths stair-stepped edges along their direction, found from the luma of the neighbours.
#include <algorithm>
#include <cstdlib>

#include "state.h"

namespace {

constexpr int CONTRAST = 15;  // of 255; weaker edges are not smoothed

struct Neighbours {
    const uint8_t *center, *north, *south;  // rows of the luma
    int west, east;                         // columns
};

void smooth_pixel(const View& view, const Neighbours& n, int x, int y, int above, int below, uint8_t* out) {
    const int center = n.center[x], north = n.north[x], south = n.south[x];
    const int west = n.center[n.west], east = n.center[n.east];
    const int low = std::min({center, north, south, west, east}), high = std::max({center, north, south, west, east});
    if (high - low <= CONTRAST) return;
    const int nw = n.north[n.west], ne = n.north[n.east], sw = n.south[n.west], se = n.south[n.east];
    const int gradient_x = ne + 2 * east + se - nw - 2 * west - sw;
    const int gradient_y = sw + 2 * south + se - nw - 2 * north - ne;
    const float mean = (float)(2 * (north + south + west + east) + nw + ne + sw + se) / 12.f;
    float share = std::min(std::abs(mean - (float)center) / (float)(high - low), 1.f);
    share = share * share * (3 - 2 * share) * 0.75f;
    const bool across_x = std::abs(gradient_x) > std::abs(gradient_y);
    auto pixel = [&](int column, int row) { return &view.lit[4 * ((size_t)row * view.stride + column)]; };
    const uint8_t *own = pixel(x, y), *one = across_x ? pixel(n.west, y) : pixel(x, above);
    const uint8_t* other = across_x ? pixel(n.east, y) : pixel(x, below);
    for (int k = 0; k < 3; ++k)
        out[k] = (uint8_t)(own[k] + ((one[k] + other[k]) * 0.5f - own[k]) * share + 0.5f);
}

}  // namespace

// Write the image where a tile or one of its neighbours has changed.
void smooth_edges(const View& view, uint8_t* rgb) {
    const int width = view.camera.width, height = view.camera.height;
    std::vector<uint8_t> contrast(width, 255);  // the first and the last column are always considered
    for (int y = 0; y < height; ++y) {
        const int above = std::max(y - 1, 0), below = std::min(y + 1, height - 1);
        Neighbours n;
        n.center = &view.luma[(size_t)y * view.stride];
        n.north = &view.luma[(size_t)above * view.stride];
        n.south = &view.luma[(size_t)below * view.stride];
        uint8_t* out = rgb + (size_t)y * width * 3;
        const uint8_t* lit = &view.lit[4 * (size_t)y * view.stride];
        const int row = y / TILE, top = std::max(0, row - 1), bottom = std::min(view.tiles_y - 1, row + 1);
        auto changed = [&](int column) {
            return view.work_count.within(std::max(0, column - 1), top, std::min(view.tiles_x - 1, column + 1), bottom);
        };
        for (int column = 0, end; column < view.tiles_x; column = end) {
            end = column + 1;
            if (!changed(column)) continue;
            while (end < view.tiles_x && changed(end)) ++end;
            const int first = column * TILE, last = std::min(end * TILE, width);
            for (int x = first; x < last; ++x)
                for (int k = 0; k < 3; ++k) out[3 * x + k] = lit[4 * x + k];
            for (int x = std::max(1, first); x < std::min(last, width - 1); ++x) {  // vector code: no branches
                uint8_t low = std::min(std::min(n.north[x], n.south[x]), std::min(n.center[x - 1], n.center[x + 1]));
                uint8_t high = std::max(std::max(n.north[x], n.south[x]), std::max(n.center[x - 1], n.center[x + 1]));
                contrast[x] = (uint8_t)(std::max(high, n.center[x]) - std::min(low, n.center[x]));
            }
            for (int x = first; x < last; ++x) {
                if (contrast[x] <= CONTRAST) continue;
                n.west = std::max(x - 1, 0), n.east = std::min(x + 1, width - 1);
                smooth_pixel(view, n, x, y, above, below, out + 3 * x);
            }
        }
    }
}
