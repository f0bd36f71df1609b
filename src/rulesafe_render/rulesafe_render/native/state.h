// The state of a renderer between its passes.
#pragma once

#include <algorithm>
#include <vector>

#include "scene.h"
#include "simd.h"

constexpr int TILE = 8;           // side of the tiles in which images are shaded, pixels
constexpr int MAX_SIDE = 4096;    // of images and of the shadow map
constexpr int PADDING = 64;       // floats after each array, so that whole vectors can be read
constexpr int CLUSTER = 48;       // triangles that are tested for visibility together
constexpr int SHADOW_SHIFT = 3;
constexpr int SHADOW_BLOCK = 1 << SHADOW_SHIFT;  // side of the blocks of the shadow map, texels

// The table of tone mapping has an entry for each value of the upper bits of the brightness (float),
// from those of 2^-12 on.
constexpr int32_t DARKEST = 0x39800000;
constexpr int DISPLAY_SHIFT = 14;

static_assert(TILE % LANES == 0, "a vector of pixels lies within a tile");

struct Sphere {
    float x, y, z, radius;
};

struct Cluster {
    Sphere bounds;
    int first, last;  // triangles
};

// A visible triangle. Its attributes divided by depth are linear in the image; values at a pixel are
// those at (x, y) plus slopes times the distance.
struct Triangle {
    int part, plane;     // plane: number of the plane in which it lies, -1 if its normals differ
    float x, y;          // of the first corner, pixels
    float u[2], v[2];    // slopes of the two barycentric coordinates
    float q, slope_q[2];   // 1 / depth
    int corner[3];
    float corner_q[3];
    bool clipped;        // corners are in `clipped_corners`
    bool prepared;       // the following values are computed
    float normal[3][3];  // x, y, z: value, two slopes
    float texture[2][3]; // u, v
};

// Sums of flags over rectangles of a grid, each in constant time.
struct Counts {
    int columns = 0;
    std::vector<int> sum;  // of all cells above and to the left

    void set(const std::vector<uint8_t>& flags, int width) {
        columns = width + 1;
        const int rows = (int)flags.size() / width;
        sum.assign((size_t)columns * (rows + 1), 0);
        for (int y = 0; y < rows; ++y)
            for (int x = 0, row = 0; x < width; ++x) {
                row += flags[(size_t)y * width + x] != 0;
                sum[(y + 1) * columns + x + 1] = sum[y * columns + x + 1] + row;
            }
    }
    // The number of cells that are set from (x, y) up to and including (end_x, end_y).
    int within(int x, int y, int end_x, int end_y) const {
        return sum[(end_y + 1) * columns + end_x + 1] - sum[y * columns + end_x + 1] -
               sum[(end_y + 1) * columns + x] + sum[y * columns + x];
    }
};

struct Box {  // of cells; empty at first
    int x = 1 << 20, y = 1 << 20, end_x = -1, end_y = -1;

    void include(int to_x, int to_y) {
        include({to_x, to_y, to_x, to_y});
    }
    void include(const Box& other) {
        x = std::min(x, other.x), y = std::min(y, other.y);
        end_x = std::max(end_x, other.end_x), end_y = std::max(end_y, other.end_y);
    }
};

// Negative depths seen from the light, and the nearest and farthest of each block.
struct ShadowMap {
    std::vector<float> texels, nearest, farthest;
};

// What has to be computed for a tile.
enum Work : uint8_t { NOTHING, SHADOW, ALL };  // SHADOW: only whether the sun is visible

// One camera: buffers of the image, rows padded to whole tiles, and what is kept between images.
struct View {
    Camera camera;
    int stride;   // pixels per row of the buffers
    int tiles_x, tiles_y;
    float world[12];  // pose of the optical frame in the world
    std::vector<float> q, depth;         // 1 / depth of the nearest surface, 0: none; depth
    std::vector<uint32_t> triangle;      // index into `triangles` of the surface, 0: none
    std::vector<Triangle> triangles;
    std::vector<float> clipped_corners;  // normal and texture position, 5 floats each
    std::vector<uint8_t> lit, luma;      // RGBA and luma before smoothing

    // The static layer of a fixed camera.
    bool kept = false;
    std::vector<float> kept_q;
    std::vector<uint32_t> kept_triangle;
    size_t kept_triangles = 0, kept_corners = 0;
    std::vector<float> kept_light[9];  // without sun, sun (r, g, b each), place in the shadow map
    std::vector<uint8_t> kept_lit, kept_luma, kept_rgb;
    std::vector<int> kept_planes, kept_reach;
    std::vector<Box> kept_shadow;  // per tile: the blocks of the shadow map at which it is looked up

    std::vector<int> planes, planes_near;  // per tile: the plane of all its surfaces, 0 none, -1 several
    std::vector<int> reach;                // per tile: how many tiles away occlusion can come from
    std::vector<uint8_t> moved, work;      // per tile: shows moving parts; what has to be computed
    Counts moved_count, work_count;
};

struct Renderer {
    Scene scene;  // its pointers point into the following arrays
    std::vector<Part> parts;
    std::vector<Material> materials;
    std::vector<Texture> textures;
    std::vector<float> attributes[8];
    std::vector<uint8_t> texels;
    std::vector<int32_t> corners;
    std::vector<DirectionalLight> directional_lights;
    std::vector<PointLight> point_lights;

    std::vector<Sphere> bounds;      // of the parts
    std::vector<Cluster> clusters;
    std::vector<int> first_cluster;  // of the parts, and the total
    std::vector<int> plane;          // of the triangles

    std::vector<float> poses;  // of the links, 12 floats each
    std::vector<View> views;
    std::vector<float> x, y, z, q;  // transformed vertices of one part
    std::vector<float> ramp;        // 0, 1, 2 ...
    std::vector<uint8_t> display;   // brightness to display value

    ShadowMap shadow, shadow_static;  // of all casters, of those that do not move
    std::vector<float> shadow_rows[2];
    std::vector<uint8_t> shadow_changed;  // per block: the maps differ in it or near it
    Counts shadow_changes;
    Box shadow_moving;  // the blocks that moving casters have changed
    bool shadow_kept = false;
};

// Product of two poses.
void compose(const float* a, const float* b, float* result);

void draw_shadows(Renderer& r);
void draw(Renderer& r, View& view, bool moving);
void shade(Renderer& r, View& view, bool keep);
void locate(const Renderer& r, const View& view, float* positions, uint16_t* links);
void smooth_edges(const View& view, uint8_t* rgb);
